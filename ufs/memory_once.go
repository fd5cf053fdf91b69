package ufs

import (
	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// If it is certain that another pass follows, a pass keeps its decoded data in memory for that pass. It uses only
// memory that reading, the statistics and the solver do not need.

// keptMargin is memory that stays free when data are kept. If the kept data filled all free memory, the collector would
// more often exceed its limit for a moment. Without the margin, one of five runs that selected from E-MNIST within 160
// MiB used 0.8 MiB too much.
const keptMargin = 16 << 20

// keptSlack is memory that stays free for garbage, so that the collector runs less often while data are kept. It made a
// run of 15 s within 512 MiB 1.0 s faster: the collector ran 39 times instead of 89.
const keptSlack = 32 << 20

// withKept returns plan b with memory for data of ds that passes keep. It is the memory that reading, the statistics
// and a solver of the given number of bytes leave free.
func (b Budget) withKept(ds *chunkio.Dataset, solver int64) Budget {
	used := b.Program + b.Statistics + b.Reading + solver
	if b.KeptGroups, b.Groups, b.Kept = ds.Keeps(b.Reading, b.Limit-used-keptMargin-keptSlack); b.Kept > 0 {
		b.Slack = keptSlack
	}
	if b.judgingStatistics > 0 && b.Program+b.judgingStatistics+max(b.Reading+solver+b.Kept+b.Slack+keptMargin, b.Solver-b.freedStatistics) <= b.Limit {
		b.judgesAtOnce, b.Statistics = true, max(b.Statistics, b.judgingStatistics)
	}
	b.Peak = max(b.Peak, b.Program+b.Statistics+max(b.Reading+solver+b.Kept+b.Slack, b.Solver-b.freedStatistics))
	return b
}

// keepDecoded makes all passes up to the statistics pass keep their decoded data. For methods over rows, which also
// read later, the plan already includes kept data.
func (p *pass) keepDecoded(ds *chunkio.Dataset) {
	if p.gatherer.gatherKind == method.FromRows {
		return
	}
	p.plan = p.plan.withKept(ds, 0)
	p.plan.enforce(p.gatherer.missingPolicy() == stream.MissingKeep)
	p.opt.Keep = chunkio.NewKeep(p.plan.Kept)
}

// settleKept ends the keeping of data. Later passes only use the kept data. It reduces the kept data if the profile of
// an earlier pass shows missing values that the footers did not show, because the statistics then need more memory.
func (p *pass) settleKept(ds *chunkio.Dataset, profile *gram.Profile) {
	if p.opt.Keep == nil {
		return
	}
	var more int64
	if profile != nil && p.opt.Missing == stream.MissingKeep && !p.plan.OutOfCore && p.plan.Factor == 0 && p.gatherer.gatherKind != method.FromProfile {
		missing := 0
		for _, c := range profile.Columns {
			if c.Missing.Total() > 0 {
				missing++
			}
		}
		more = gram.SharedBytes(len(profile.Columns), missing, p.gatherer.Stability+1) - p.gatherer.gramBytes(ds)
		if rows := p.gatherer.sketchRows; rows > 0 {
			more = gram.SketchBytes(len(profile.Columns), missing, rows) - gram.SketchBytes(len(profile.Columns), p.gatherer.expectedMissing(ds), rows)
		}
	}
	p.opt.Keep.Settle(p.plan.Kept - max(more, 0))
	if groups, bytes := p.opt.Keep.HeldGroups(); groups > 0 {
		p.gatherer.note("keeps %s (%s) of the first pass for the second", plural(groups, "row group"), humanize.IBytes(uint64(bytes)))
	}
}
