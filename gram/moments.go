package gram

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets resources of Moments. Results do not depend on Options.
type Options struct {
	Threads int   // number of goroutines; 0 means GOMAXPROCS
	Limit   int64 // largest number of bytes that Moments may use, see Bytes; 0 means 2 GiB

	// Busy, if not nil, measures the time for converting rows and for the products.
	Busy *stream.Busy
}

func (o Options) withDefaults() Options {
	o.Limit = cmp.Or(o.Limit, 2<<30)
	return o
}

// Moments is a profile, together with the Gram matrix of the values minus their pilots. One pass over the rows gives
// all that is needed for a Gram matrix of the whole table under any scaling and any filling of missing entries.
//
// With m = 1 for a missing entry and 0 otherwise, and x̃ = x - pilot for an observed entry and 0 otherwise, it contains
//
//	G̃ = Σ w x̃ x̃ᵀ   d×d, upper triangle
//	A = Σ w m x̃ᵀ    dm×d } only for the dm columns that have
//	N = Σ w m mᵀ     dm×dm } had a missing entry so far
//
// A column joins A and N at its first missing entry. Earlier rows add nothing to its sums.
type Moments struct {
	Profile Profile

	opt         Options
	g           []float64 // d×d row-major; nil until rows arrive
	missing     []int     // the dm columns of A and N, ascending
	slot        []int     // position of a column in missing, or -1
	cross       []float64 // A, dm×d
	bothMissing []float64 // N, dm×dm, upper triangle

	*scratch // its own scratch, or shared with the Moments on which Another was called
}

// scratch is the memory for the current strip, i.e. for up to stripRows rows. It has stripRows numbers for each column.
type scratch struct {
	team   *kernel.Team
	packed []float64 // √w·x̃, d columns
	wholeNumbers
	holes []float64 // √w·m, dm columns
	root  []float64 // √w
}

// bufferBytes bounds the memory of encoding, decoding and bookkeeping, in addition to the matrices.
const bufferBytes = 256 << 10

// Bytes bounds the memory of Moments of d columns, of which `missing` have missing entries. It includes scratch and
// growth:
//
//	8·d² + 2·8·(missing·d + missing²) + 8·256·missing + 512·d + 256 KiB + scratch for strips of d columns
//
// The second term counts A and N twice, because they grow by copying.
func Bytes(d, missing int) int64 { return SharedBytes(d, missing, 1) }

// SharedBytes bounds the memory of several Moments that share their scratch, see Another. Their number is `states`. The
// result is the sum of the bounds given by [Bytes], with the scratch counted only once.
func SharedBytes(d, missing, states int) int64 {
	if d > maxColumns {
		return math.MaxInt64
	}
	return room.Measure(func(l *room.Layout) {
		for range max(states, 1) {
			kernel.NewMatrix[float64](l, d, d)
			layOutMissingSums(l, d, missing)
			layOutMissingSums(l, d, missing)
			l.Add(columnBytes * int64(d))
		}
		l.Add(scratchBytes(d))
		kernel.NewMatrix[float64](l, missing, stripRows)
	})
}

func layOutMissingSums(l *room.Layout, d, dm int) (cross, bothMissing []float64) {
	return room.Slice[float64](l, dm*d), room.Slice[float64](l, dm*dm)
}

func (s *scratch) layOut(l *room.Layout, d int) {
	s.packed, s.root = room.Slice[float64](l, d*stripRows), room.Slice[float64](l, stripRows)
	s.layOutNumbers(l, d)
	l.Add(kernel.TeamBytes(d, d))
}

// ShareOf returns the Options.Limit of each of several Moments of d columns that share their scratch, if together they
// may use `limit` bytes. Their number is `states`. [WholeOf] is its inverse.
func ShareOf(limit int64, d, states int) int64 {
	shared := scratchBytes(d)
	return max((limit-shared)/int64(states)+shared, 1)
}

// WholeOf returns the bytes that `states` Moments of d columns with one scratch use together, if each may use `share`.
func WholeOf(share int64, d, states int) int64 {
	shared := scratchBytes(d)
	return (share-shared)*int64(states) + shared
}

func scratchBytes(d int) int64 {
	return bufferBytes + room.Measure(func(l *room.Layout) { new(scratch).layOut(l, d) })
}

// maxColumns prevents byte counts from overflowing an int64. With this number of columns, d² doubles take 2 PiB.
const maxColumns = 1 << 24

// NewMoments returns empty moments of d columns. It allocates O(d) memory. The matrices are allocated with the first
// rows, within opt.Limit.
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
	o := NewMoments(len(m.Profile.Columns), m.opt)
	o.scratch = m.scratch
	return o
}

// Add adds the rows of c in O(rows·d²) flops for dense chunks, or O(Σ nnz²) for sparse ones. If the columns differ, if
// sparse rows follow dense rows (merge two Moments instead), or if memory does not suffice (*stream.MemoryError), it
// fails, and m is unchanged.
//
// The result does not depend on the number of workers, not even in the last bit.
// Cutting the same rows into other chunks changes it by rounding.
func (m *Moments) Add(c *stream.Chunk) error {
	if err := m.Profile.checkColumnsAndPilots(c); err != nil {
		return err
	}
	holes := m.newMissingColumns(c)
	if c.Rows > 0 {
		if err := m.allocateForMissing(holes, c.Sparse == nil); err != nil {
			return err
		}
	}
	m.Profile.addCounts(c)
	if c.Sparse != nil {
		start := time.Now()
		m.Profile.addSparseRows(c)
		observed := c.Sparse
		if len(holes) > 0 {
			observed = m.addMissingEntries(c)
		}
		m.opt.Busy.Add(stream.PartConvert, time.Since(start))
		m.opt.Busy.Add(stream.PartGram, m.addOuterProducts(c, observed))
		return nil
	}
	for from := 0; from < c.Rows; from += stripRows {
		s := m.Profile.nextStrip(c, from, m.root[:0])
		m.addStrip(&s, len(holes) > 0)
	}
	return nil
}

// addStrip adds a strip of rows to the profile and to the matrices. It reads every column from memory once, because the
// same loop adds the column to its sums and packs it for the products.
func (m *Moments) addStrip(s *strip, hasMissing bool) {
	d := len(m.Profile.Columns)
	packing := eachColumn(m.opt.Threads, d, func(j int) {
		m.Profile.addColumn(s, j, m.packed[j*stripRows:][:s.rows])
		m.storeColumnIfSmall(j, m.packed[j*stripRows:][:s.rows])
		if k := m.slot[j]; hasMissing && k >= 0 {
			s.writeMissing(m.holes[k*stripRows:][:s.rows], j)
		}
	})
	m.opt.Busy.Add(stream.PartConvert, packing)
	before := m.team.BusyTime()
	xt := kernel.RowMajor(m.packed, d, s.rows, stripRows)
	m.addSquares(m.team, xt, kernel.RowMajor(m.g, d, d, d))
	if hasMissing {
		dm := len(m.missing)
		ot := kernel.RowMajor(m.holes, dm, s.rows, stripRows)
		kernel.Gemm(m.team, 1, ot, xt.Trans(), kernel.RowMajor(m.cross, dm, d, d))
		kernel.Syrk(m.team, 1, ot, kernel.RowMajor(m.bothMissing, dm, dm, dm))
	}
	m.opt.Busy.Add(stream.PartGram, m.team.BusyTime()-before)
}

func (m *Moments) newMissingColumns(c *stream.Chunk) []int {
	if c.Sparse != nil {
		return sparseMissingColumns(c)
	}
	if c.Missing == nil {
		return nil
	}
	hasHole := make([]bool, c.Cols)
	eachColumn(m.opt.Threads, c.Cols, func(j int) {
		hasHole[j] = mayHaveMissing(c, j) && slices.ContainsFunc(c.Col(j), math.IsNaN)
	})
	var holes []int
	for j, has := range hasHole {
		if has {
			holes = append(holes, j)
		}
	}
	return holes
}

// allocateForMissing allocates memory for the sums of missing entries in the given columns, and for packing rows if
// withPacking is set, i.e. if the rows are dense. If Options.Limit is too low, it fails, and m is unchanged.
func (m *Moments) allocateForMissing(columns []int, withPacking bool) error {
	d := len(m.Profile.Columns)
	missing := slices.Clone(m.missing)
	for _, j := range columns {
		if m.slot[j] < 0 {
			missing = append(missing, j)
		}
	}
	slices.Sort(missing)
	if err := m.checkLimit(d, len(missing)); err != nil {
		return err
	}
	if m.g == nil {
		m.g = kernel.NewMatrix[float64](nil, d, d).Data
	}
	if withPacking && m.packed == nil {
		m.team = kernel.NewTeam(m.opt.Threads)
		m.layOut(nil, d)
	}
	if len(missing) > len(m.missing) {
		m.insertMissingColumns(missing)
	}
	if withPacking && len(m.holes) < len(m.missing)*stripRows {
		m.holes = kernel.NewMatrix[float64](nil, len(m.missing), stripRows).Data
	}
	return nil
}

func (m *Moments) checkLimit(columnCount, missingColumnCount int) error {
	need := Bytes(columnCount, missingColumnCount)
	if need <= m.opt.Limit {
		return nil
	}
	description := fmt.Sprintf("the Gram matrix of %d features", columnCount)
	if missingColumnCount > 0 {
		description += fmt.Sprintf(", %d of them with missing values,", missingColumnCount)
	}
	return &stream.MemoryError{What: description, Need: need, Limit: m.opt.Limit}
}

func (m *Moments) insertMissingColumns(columns []int) {
	d, dm, old := len(m.Profile.Columns), len(columns), len(m.missing)
	cross, both := layOutMissingSums(nil, d, dm)
	to := make([]int, old) // new position of each old column
	for k, j := range m.missing {
		to[k], _ = slices.BinarySearch(columns, j)
	}
	for k := range to {
		copy(cross[to[k]*d:][:d], m.cross[k*d:])
		for l := k; l < old; l++ { // relative order is kept, so the upper triangle stays the upper triangle
			both[to[k]*dm+to[l]] = m.bothMissing[k*old+l]
		}
	}
	for k, j := range columns {
		m.slot[j] = k
	}
	m.missing, m.cross, m.bothMissing = columns, cross, both
}

// crossAt returns Σ w m_k x̃_j, the entry of A (see [Moments]) for missing entries of column k and values of column j.
func (m *Moments) crossAt(k, j int) float64 {
	if s := m.slot[k]; s >= 0 {
		return m.cross[s*len(m.Profile.Columns)+j]
	}
	return 0
}

// bothMissingAt returns Σ w m_i m_j, the entry of [Moments]' matrix N for columns i and j.
func (m *Moments) bothMissingAt(i, j int) float64 {
	s, t := m.slot[i], m.slot[j]
	if s < 0 || t < 0 {
		return 0
	}
	return m.bothMissing[min(s, t)*len(m.missing)+max(s, t)]
}

// addMissingEntries adds the missing entries of sparse rows to A and N of [Moments]. It returns the observed entries.
func (m *Moments) addMissingEntries(c *stream.Chunk) *stream.CSR {
	d := len(m.Profile.Columns)
	seen := &stream.CSR{RowPtr: make([]int, 1, c.Rows+1)}
	var holes []int // slots of the row's missing columns, ascending
	for i := range c.Rows {
		holes = holes[:0]
		first := len(seen.Index)
		for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
			j, x := c.Sparse.Index[e], c.Sparse.Value[e]
			if x != x {
				holes = append(holes, m.slot[j])
				continue
			}
			seen.Index, seen.Value = append(seen.Index, j), append(seen.Value, x)
		}
		seen.RowPtr = append(seen.RowPtr, len(seen.Index))
		w := rowWeight(c, i)
		for a, k := range holes {
			for e := first; e < len(seen.Index); e++ {
				m.cross[k*d+int(seen.Index[e])] += float64(w * seen.Value[e])
			}
			for _, l := range holes[a:] {
				m.bothMissing[k*len(m.missing)+l] += w
			}
		}
	}
	return seen
}

// addOuterProducts adds w·x·xᵀ for every row of c, given the rows' observed entries. A worker computes some rows of G,
// and adds the rows of the chunk in order, so every sum has a fixed order. The result is the workers' total busy time.
func (m *Moments) addOuterProducts(c *stream.Chunk, rows *stream.CSR) time.Duration {
	const block = 32
	d := len(m.Profile.Columns)
	return kernel.Each(m.opt.Threads, (d+block-1)/block, func(t int) {
		first, end := int32(t*block), int32(min(d, (t+1)*block))
		for i := range c.Rows {
			index := rows.Index[rows.RowPtr[i]:rows.RowPtr[i+1]]
			value := rows.Value[rows.RowPtr[i]:rows.RowPtr[i+1]]
			w := rowWeight(c, i)
			e, _ := slices.BinarySearch(index, first)
			for ; e < len(index) && index[e] < end; e++ {
				g, x := m.g[int(index[e])*d:][:d], w*value[e]
				for f := e; f < len(index); f++ {
					g[index[f]] += x * value[f]
				}
			}
		}
	})
}
