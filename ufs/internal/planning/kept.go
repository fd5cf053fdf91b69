package planning

import (
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
)

// If it is certain that another pass follows, a pass keeps its decoded data in memory for that pass. It uses only
// memory that reading, the statistics and the solver do not need.

// KeptMargin is memory that stays free when data are kept. If the kept data filled all free memory, the collector would
// more often exceed its limit for a moment. Without the margin, one of five runs that selected from E-MNIST within 160
// MiB used 0.8 MiB too much.
const KeptMargin = 16 << 20

// KeptSlack is memory that stays free for garbage, so that the collector runs less often while data are kept. It made a
// run of 15 s within 512 MiB 1.0 s faster: the collector ran 39 times instead of 89.
const KeptSlack = 32 << 20

// WithKept returns plan b with memory for data of ds that passes keep. It is the memory that reading, the statistics
// and a solver of the given number of bytes leave free.
func WithKept(b budget.Budget, ds *chunkio.Dataset, solver int64) budget.Budget {
	used := b.Program + b.Statistics + b.Reading + solver
	if b.KeptGroups, b.Groups, b.Kept = ds.Keeps(b.Reading, b.Limit-used-KeptMargin-KeptSlack); b.Kept > 0 {
		b.Slack = KeptSlack
	}
	if b.JudgingStatistics > 0 && b.Program+b.JudgingStatistics+max(b.Reading+solver+b.Kept+b.Slack+KeptMargin, b.Solver-b.FreedStatistics) <= b.Limit {
		b.JudgesAtOnce, b.Statistics = true, max(b.Statistics, b.JudgingStatistics)
	}
	b.Peak = max(b.Peak, b.Program+b.Statistics+max(b.Reading+solver+b.Kept+b.Slack, b.Solver-b.FreedStatistics))
	return b
}
