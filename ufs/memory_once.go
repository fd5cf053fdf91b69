package ufs

import (
	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// What a pass decodes stays in memory for the next one where that is sure to come, as far as
// nothing else needs the memory: reading, statistics and solver have all they wish for.

// keptMargin stays free beside what is kept, which fills all that is left and makes the collector's
// moments of overrunning more likely: select of E-MNIST within 160 MiB took 0.8 MiB too much in one
// of five runs without it.
const keptMargin = 16 << 20

// keptSlack is for garbage, so that the collector need not run all the time beside what is kept: within
// 512 MiB it ran 39 times in place of 89, and the run took 1.0 s less of 15.
const keptSlack = 32 << 20

// keeping is the plan b with what is left beside reading, the statistics and so many other
// bytes, for passes of ds.
func (b Budget) keeping(ds *chunkio.Dataset, others int64) Budget {
	used := b.Program + b.Statistics + b.Reading + others
	if b.KeptGroups, b.Groups, b.Kept = ds.Keeps(b.Reading, b.Limit-used-keptMargin-keptSlack); b.Kept > 0 {
		b.Slack = keptSlack
	}
	if b.atOnceBytes > 0 && b.Program+b.atOnceBytes+max(b.Reading+others+b.Kept+b.Slack+keptMargin, b.Solver-b.gone) <= b.Limit {
		b.atOnce, b.Statistics = true, max(b.Statistics, b.atOnceBytes)
	}
	b.Peak = max(b.Peak, b.Program+b.Statistics+max(b.Reading+others+b.Kept+b.Slack, b.Solver-b.gone))
	return b
}

// keep makes the passes up to accumulate keep what they decode. Methods over rows read on after
// that, so that their plan has it.
func (p *pass) keep(ds *chunkio.Dataset) {
	if p.g.gatherKind == method.FromRows {
		return
	}
	p.plan = p.plan.keeping(ds, 0)
	p.plan.enforce(p.g.policy() == stream.MissingKeep)
	p.opt.Keep = chunkio.NewKeep(p.plan.Kept)
}

// settleKept ends that: what is kept is for the passes to come. Statistics need more than planned
// where the profile of an earlier pass tells of missing values that the footers did not.
func (p *pass) settleKept(ds *chunkio.Dataset, profile *gram.Profile) {
	if p.opt.Keep == nil {
		return
	}
	var more int64
	if profile != nil && p.opt.Missing == stream.MissingKeep && !p.plan.OutOfCore && p.plan.Factor == 0 && p.g.gatherKind != method.FromProfile {
		missing := 0
		for _, c := range profile.Columns {
			if c.Missing.Total() > 0 {
				missing++
			}
		}
		more = gram.SharedBytes(len(profile.Columns), missing, p.g.Stability+1) - p.g.gramBytes(ds)
		if rows := p.g.sketchRows; rows > 0 {
			more = gram.SketchBytes(len(profile.Columns), missing, rows) - gram.SketchBytes(len(profile.Columns), p.g.expectedMissing(ds), rows)
		}
	}
	p.opt.Keep.Settle(p.plan.Kept - max(more, 0))
	if groups, bytes := p.opt.Keep.Held(); groups > 0 {
		p.g.note("keeps %s (%s) of the first pass for the second", plural(groups, "row group"), humanize.IBytes(uint64(bytes)))
	}
}
