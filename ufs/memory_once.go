package ufs

import (
	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A pass keeps its decoded data in memory for the next pass if another pass is certain. It uses only memory that
// reading, statistics and solver do not need.

// keptMargin is memory that stays free when data are kept. Otherwise the kept data would fill all free memory, and
// the collector would more often exceed its limit for a moment. Without the margin, one of five runs that selected
// from E-MNIST within 160 MiB used 0.8 MiB too much.
const keptMargin = 16 << 20

// keptSlack is memory for garbage, so that the collector runs less often while data are kept. Within 512 MiB the
// collector ran 39 times instead of 89, and a run of 15 s became 1.0 s faster.
const keptSlack = 32 << 20

// withKept returns plan b extended by kept data for passes over ds. They fill the memory that reading, the
// statistics and another others bytes leave free.
func (b Budget) withKept(ds *chunkio.Dataset, others int64) Budget {
	used := b.Program + b.Statistics + b.Reading + others
	if b.KeptGroups, b.Groups, b.Kept = ds.Keeps(b.Reading, b.Limit-used-keptMargin-keptSlack); b.Kept > 0 {
		b.Slack = keptSlack
	}
	if b.judgingStatistics > 0 && b.Program+b.judgingStatistics+max(b.Reading+others+b.Kept+b.Slack+keptMargin, b.Solver-b.freedStatistics) <= b.Limit {
		b.judgesAtOnce, b.Statistics = true, max(b.Statistics, b.judgingStatistics)
	}
	b.Peak = max(b.Peak, b.Program+b.Statistics+max(b.Reading+others+b.Kept+b.Slack, b.Solver-b.freedStatistics))
	return b
}

// keepDecoded makes the passes up to the statistics pass keep their decoded data. Methods over rows continue to
// read later, so their plan already includes kept data.
func (p *pass) keepDecoded(ds *chunkio.Dataset) {
	if p.gatherer.gatherKind == method.FromRows {
		return
	}
	p.plan = p.plan.withKept(ds, 0)
	p.plan.enforce(p.gatherer.missingPolicy() == stream.MissingKeep)
	p.opt.Keep = chunkio.NewKeep(p.plan.Kept)
}

// settleKept ends the keeping of data; later passes use the kept data. If the profile of an earlier pass shows
// missing values that the footers did not show, the statistics need more memory than planned.
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
