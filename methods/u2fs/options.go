package u2fs

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets the parameters of the regression. A zero field means its default.
type Options struct {
	Clusters int // c: number of eigenvectors of the graph; default 10
	Threads  int // 0 means GOMAXPROCS; the answer does not depend on it
	// Progress is called after each block of eliminations with the number of remaining features and the utility of the
	// feature that was removed last. Nil does nothing.
	Progress func(left int, utility float64)
}

// Validate reports every fault of o in one *stream.UsageError.
func (o Options) Validate() error {
	var faults stream.Faults
	method.RefuseNegative(&faults, "{clusters}", o.Clusters)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

// WithDefaults replaces zero fields with their defaults.
func (o Options) WithDefaults() Options {
	o.Clusters = cmp.Or(o.Clusters, 10)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o
}

// Bytes bounds the memory of Select in addition to the Graph of m anchors and d features. rank is the number of rows of
// G if it is a factor, otherwise 0.
func Bytes(m, d, rank int, opt Options) int64 {
	c := min(opt.WithDefaults().Clusters, m)
	return room.Measure(func(l *room.Layout) {
		l.Add(kernel.TeamBytes(max(m, d), max(m, d)))
		l.Phase(func() { l.Add(spectral.EmbedBytes(m, c)) })
		l.Add(8 * int64(m) * int64(c)) // the eigenvectors
		new(elimination).layOut(l, d, c)
		order := d // order of P as a fullInverse
		if isWide(rank, d) {
			order = 2 * rank
			l.Phase(func() {
				l.Add(8 * int64(rank) * int64(m)) // B of the Graph
				new(rowInverse).layOut(l, d, rank, c)
			})
		}
		new(fullInverse).layOut(l, order, rank)
	})
}
