package u2fs

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
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
	opt = opt.WithDefaults()
	order := d // order of P as a fullInverse
	if rank > 0 {
		order = min(d, 2*rank)
	}
	size, c := int64(order)*int64(order), int64(opt.Clusters)
	embed := spectral.EmbedBytes(m, opt.Clusters)
	// For P, two matrices of its size, with which it is computed and reduced, and the vectors of a block of removals.
	eliminate := 8*3*size + linalg.CholeskyBytes(order) + 8*int64(d)*(blockFeatures+8)
	if n := int64(rank); n > 0 { // X twice, while it is computed anew; K, its factors and a block of removals
		eliminate += 8*n*(2*int64(d)+3*n+2*blockFeatures+int64(m)+2*c) + linalg.CholeskyBytes(rank)
	}
	return max(embed, eliminate) + 3*8*int64(d)*c + kernel.TeamBytes(max(m, d), max(m, d))
}
