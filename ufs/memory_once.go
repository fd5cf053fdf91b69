package ufs

import (
	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A pass keeps its decoded data in memory for the next one if that is sure to come, as far as reading,
// statistics and solver leave memory that they have no use for.

// keptMargin stays free in addition to the kept data, which otherwise fill all memory that is left and make it
// more likely that the collector overruns its limit for a moment: select of E-MNIST within 160 MiB took 0.8 MiB
// too much in one of five runs without it.
const keptMargin = 16 << 20

// keptSlack is for garbage, so that the collector need not run all the time while data are kept: within 512 MiB
// it ran 39 times in place of 89, and the run took 1.0 s less of 15.
const keptSlack = 32 << 20

// withKept is plan b with kept data in the memory left by reading, the statistics and others bytes, for passes
// over ds.
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

// keepDecoded makes the passes up to the statistics pass keep their decoded data. Methods over rows read on
// after that, so that their plan includes it.
func (p *pass) keepDecoded(ds *chunkio.Dataset) {
	if p.gatherer.gatherKind == method.FromRows {
		return
	}
	p.plan = p.plan.withKept(ds, 0)
	p.plan.enforce(p.gatherer.missingPolicy() == stream.MissingKeep)
	p.opt.Keep = chunkio.NewKeep(p.plan.Kept)
}

// settleKept ends this: the kept data serve the passes to come. Statistics need more than planned if the
// profile of an earlier pass shows missing values that the footers did not.
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
