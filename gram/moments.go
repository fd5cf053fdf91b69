package gram

import (
	"cmp"
	"math"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options tunes Moments; results do not depend on it.
type Options struct {
	Threads int   // number of goroutines; 0 means GOMAXPROCS
	Limit   int64 // bytes that Moments may hold, see Bytes; 0 means 2 GiB

	// Busy measures the time for converting rows and for the products. It may be nil.
	Busy *stream.Busy
}

func (o Options) withDefaults() Options {
	o.Limit = cmp.Or(o.Limit, 2<<30)
	return o
}

// Moments is a profile, together with the Gram matrix about its pilots. One pass over the rows gives all that a Gram
// matrix of the whole table needs, under any scaling and any filling of missing entries.
//
// With m = 1 for a missing entry, and x̃ = x - pilot for an observed entry and 0 for a missing one, it holds
//
//	G̃ = Σ w x̃ x̃ᵀ   d×d, upper triangle
//	A = Σ w m x̃ᵀ    dm×d } only for the dm columns that have
//	N = Σ w m mᵀ     dm×dm } had a missing entry so far
//
// A column joins A and N at its first missing entry. Earlier rows add nothing to its sums.
type Moments struct {
	Profile

	opt     Options
	g       []float64 // d×d row-major; nil until rows arrive
	missing []int     // the dm columns of A and N, ascending
	slot    []int     // position of a column in missing, or -1
	cross   []float64 // A, dm×d
	both    []float64 // N, dm×dm, upper triangle

	*scratch // its own, or shared with the Moments on which Another was called
}

// scratch is the memory for the current strip, column-major with stripRows rows a column.
type scratch struct {
	team   *kernel.Team
	packed []float64 // √w·x̃, d columns
	wholeNumbers
	holes []float64 // √w·m, dm columns
	root  []float64 // √w
}

// buffers bounds the memory of encoding, decoding and bookkeeping, in addition to the matrices.
const buffers = 256 << 10

// Bytes bounds the memory of Moments of d columns, of which `missing` have missing entries, including its scratch and
// its growth:
//
//	8·d² + 2·8·(missing·d + missing²) + 8·256·(d + missing) + 512·d + 256 KiB
//
// In addition there are the packed panels of the products, and 2.3 KiB·d for whole numbers. The second term counts A
// and N twice, because they grow by copying.
func Bytes(d, missing int) int64 {
	if d > maxColumns {
		return math.MaxInt64
	}
	n, k := int64(d), int64(missing)
	return 8*n*n + 16*(k*n+k*k) + 8*stripRows*(n+k) + columnBytes*n + kernel.TeamBytes(d, d) + wholeNumbersBytes(d) + buffers
}

// SharedBytes bounds the memory of `states` Moments that share their scratch (see Another): it is [Bytes] of each,
// with the scratch counted only once.
func SharedBytes(d, missing, states int) int64 {
	one := Bytes(d, missing)
	if one == math.MaxInt64 || states < 1 {
		return one
	}
	n, k := int64(d), int64(missing)
	return one + int64(states-1)*(8*n*n+16*(k*n+k*k)+columnBytes*n)
}

// ShareOf returns the limit for each of `states` Moments that share their scratch, if together they may hold limit
// bytes. [WholeOf] is its inverse.
func ShareOf(limit int64, d, states int) int64 {
	shared := scratchBytes(d)
	return max((limit-shared)/int64(states)+shared, 1)
}

// WholeOf returns the total for `states` Moments if each needs share bytes including the scratch, which they share.
func WholeOf(share int64, d, states int) int64 {
	shared := scratchBytes(d)
	return (share-shared)*int64(states) + shared
}

func scratchBytes(d int) int64 { return Bytes(d, 0) - (8*int64(d)+columnBytes)*int64(d) }

// maxColumns keeps 64-bit byte counts from overflowing: at this number, d² doubles are 2 PiB.
const maxColumns = 1 << 24

// NewMoments returns empty moments of d columns. It allocates O(d); the
// matrices come with the first rows, within opt.Limit.
func NewMoments(d int, opt Options) *Moments {
	m := &Moments{Profile: newProfile(d), opt: opt.withDefaults(), slot: make([]int, d), scratch: new(scratch)}
	for j := range m.slot {
		m.slot[j] = -1
	}
	return m
}

// Another returns empty moments with m's columns and options. It shares m's scratch, so rows must not be added to both
// at the same time.
func (m *Moments) Another() *Moments {
	o := NewMoments(len(m.Columns), m.opt)
	o.scratch = m.scratch
	return o
}

// Add adds the rows of c in O(rows·d²) flops for dense chunks, or O(Σ nnz²) for sparse ones. It fails, with m
// unchanged, if the columns differ, if sparse rows follow dense rows (merge two Moments instead), or with a
// *stream.MemoryError.
//
// The result does not depend on the number of workers, not even in the last bit.
// Cutting the same rows into other chunks changes it by rounding.
func (m *Moments) Add(c *stream.Chunk) error {
	if err := m.checkChunk(c); err != nil {
		return err
	}
	holes := m.columnsWithHoles(c)
	if c.Rows > 0 {
		if err := m.makeRoom(holes, c.Sparse == nil); err != nil {
			return err
		}
	}
	m.addCounts(c)
	if c.Sparse != nil {
		start := time.Now()
		m.addSparse(c)
		observed := c.Sparse
		if len(holes) > 0 {
			observed = m.addHoles(c)
		}
		m.opt.Busy.Add(stream.PartConvert, time.Since(start))
		m.opt.Busy.Add(stream.PartGram, m.addOuter(c, observed))
		return nil
	}
	for from := 0; from < c.Rows; from += stripRows {
		s := m.nextStrip(c, from, m.root[:0])
		m.addStrip(&s, len(holes) > 0)
	}
	return nil
}

// addStrip adds rows to the profile and to the matrices. Every column is read from memory once, because the same step
// adds it to its sums and packs it for the products.
func (m *Moments) addStrip(s *strip, holes bool) {
	d := len(m.Columns)
	packing := eachColumn(m.opt.Threads, d, func(j int) {
		m.addColumn(s, j, m.packed[j*stripRows:][:s.rows])
		m.noteColumn(j, m.packed[j*stripRows:][:s.rows])
		if k := m.slot[j]; holes && k >= 0 {
			s.writeMissing(m.holes[k*stripRows:][:s.rows], j)
		}
	})
	m.opt.Busy.Add(stream.PartConvert, packing)
	before := m.team.BusyTime()
	xt := kernel.RowMajor(m.packed, d, s.rows, stripRows)
	m.addSquares(m.team, xt, kernel.RowMajor(m.g, d, d, d))
	if holes {
		dm := len(m.missing)
		ot := kernel.RowMajor(m.holes, dm, s.rows, stripRows)
		kernel.Gemm(m.team, 1, ot, xt.Trans(), kernel.RowMajor(m.cross, dm, d, d))
		kernel.Syrk(m.team, 1, ot, kernel.RowMajor(m.both, dm, dm, dm))
	}
	m.opt.Busy.Add(stream.PartGram, m.team.BusyTime()-before)
}
