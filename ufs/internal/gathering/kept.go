package gathering

import (
	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// keepDecodedData makes all passes up to the statistics pass keep their decoded data. For methods over rows, which also
// read later, the plan already includes kept data.
func keepDecodedData(p *pass, ds *chunkio.Dataset) {
	if kindOf(p.gatherer.GatherKind).keepsRows {
		return
	}
	p.plan = planning.WithKept(p.plan, ds, 0)
	p.plan.EnforcePeak(request.MissingPolicy(&p.gatherer.Run.Request) == stream.MissingKeep)
	p.opt.Keep = chunkio.NewKeep(p.plan.Kept)
}

// settleKeptData ends the keeping of data. Later passes only use the kept data. It reduces the kept data if the profile of
// an earlier pass shows missing values that the footers did not show, because the statistics then need more memory.
func settleKeptData(p *pass, ds *chunkio.Dataset, profile *gram.Profile) {
	if p.opt.Keep == nil {
		return
	}
	var more int64
	if profile != nil && p.opt.Missing == stream.MissingKeep && !p.plan.OutOfCore && p.plan.Factor == 0 && p.gatherer.GatherKind != method.FromProfile {
		missing := 0
		for _, c := range profile.Columns {
			if c.Missing.Total() > 0 {
				missing++
			}
		}
		more = gram.SharedBytes(len(profile.Columns), missing, p.gatherer.Run.Choice.Stability+1) - planning.GramBytes(p.gatherer.Run, ds)
		if rows := p.gatherer.Run.SketchRows; rows > 0 {
			more = gram.SketchBytes(len(profile.Columns), missing, rows) - gram.SketchBytes(len(profile.Columns), planning.ExpectedMissing(p.gatherer.Run, ds), rows)
		}
	}
	p.opt.Keep.Settle(p.plan.Kept - max(more, 0))
	if groups, bytes := p.opt.Keep.HeldGroups(); groups > 0 {
		p.gatherer.Run.Notef("keeps %s (%s) of the first pass for the second", wording.CountNoun(groups, "row group"), humanize.IBytes(uint64(bytes)))
	}
}
