package rowsample

import (
	"cmp"
	"io"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Source reads a written sample as a stream.Source. Each pass reads the file from the start. The Source keeps the
// positions of the rows in memory, and during a pass one block.
type Source struct {
	openSample func() (io.Reader, error)
	head       sampleHead
	opt        Options
	isDrawn    []bool // for each stored row, whether it is delivered
	maxInBlock int    // largest number of drawn rows in a block
}

// Options selects the columns and rows of a sample that are delivered.
type Options struct {
	Columns []stream.Column      // columns to deliver
	Index   []int                // their indices among the columns of the sample
	Draw    int64                // number of rows to deliver; the rows with the lowest hashes are chosen; 0 means all
	Rows    int64                // number of rows of the whole table
	Missing stream.MissingPolicy // policy for the drawn rows
	Sparse  bool                 // deliver sparse rows, in which entries of 0 are absent
	Path    string               // path of the file, for errors
	File    io.Closer            // the file, which Close closes
}

// OpenSource reads the positions of the rows in a sample of d columns. open must return a reader at the beginning of
// the sample.
func OpenSource(d int, open func() (io.Reader, error)) (*Source, error) {
	s := &Source{openSample: open}
	in, err := open()
	if err != nil {
		return nil, err
	}
	r := words.NewReader(in)
	if s.head = readHead(r, func(int, int) error { return nil }); s.head.d != d {
		r.Fail("%d columns, want %d", s.head.d, d)
	}
	return s, r.Err()
}

// RowCount returns the number of rows in the sample.
func (s *Source) RowCount() int64 { return int64(len(s.head.positions)) }

// RequestedRows returns the number of rows that was requested when the sample was drawn.
func (s *Source) RequestedRows() int64 { return int64(s.head.keep) }

// Seed returns the seed with which rows were drawn.
func (s *Source) Seed() uint64 { return s.head.seed }

// WithOptions returns a Source of the same sample with other options.
func (s *Source) WithOptions(opt Options) *Source {
	t := &Source{openSample: s.openSample, head: s.head, opt: opt}
	t.isDrawn = t.markLowestHashes()
	run, last := 0, int64(-1)
	for i, deliver := range t.isDrawn {
		if !deliver {
			continue
		}
		if b := t.blockStart(i); b != last || run == t.blockHeight() {
			run, last = 0, b
		}
		run++
		t.maxInBlock = max(t.maxInBlock, run)
	}
	return t
}

func (s *Source) markLowestHashes() []bool {
	n := len(s.head.positions)
	marks := make([]bool, n)
	if s.opt.Draw == 0 || s.opt.Draw >= int64(n) {
		for i := range marks {
			marks[i] = true
		}
		return marks
	}
	hash := func(i int) uint64 { return splitmix.Hash(s.head.seed, uint64(s.head.positions[i])) }
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), a-b) })
	for _, i := range order[:s.opt.Draw] {
		marks[i] = true
	}
	return marks
}

func (s *Source) blockHeight() int { return stream.BlockRows(len(s.opt.Columns)) }

// blockStart returns the position at which the block with row i starts in the table. The height of a block depends on
// the number of columns, and every row group starts a new block.
func (s *Source) blockStart(i int) int64 {
	h := int64(s.blockHeight())
	start := s.head.starts[i]
	return start + (s.head.positions[i]-start)/h*h
}

// Columns implements stream.Source. It returns the columns that are delivered.
func (s *Source) Columns() []stream.Column { return s.opt.Columns }

// Rows implements stream.Source. It returns the number of rows of the whole table.
func (s *Source) Rows() int64 {
	if n := len(s.head.positions); n > 0 { // if parts of the table are missing, positions may exceed Options.Rows
		return max(s.opt.Rows, s.head.positions[n-1]+1)
	}
	return s.opt.Rows
}

// Cuts implements stream.Source. It returns the starts of the row groups with sampled rows, and the end.
func (s *Source) Cuts() []int64 {
	cuts := append([]int64{0}, s.head.starts...)
	slices.Sort(cuts)
	return append(slices.Compact(cuts), s.Rows())
}

// sectionBytes is the memory for decompressing the sample, a section of a statistics file. 5 MiB were measured.
const sectionBytes = 6 << 20

// MinMemory returns the memory of a pass, including the positions.
func (s *Source) MinMemory() int64 {
	n, d := int64(len(s.head.positions)), int64(len(s.opt.Columns))
	return sectionBytes + 5*8*n + 8*int64(s.head.d) + int64(s.maxInBlock)*(8*d+8) + 24*d
}

// MemoryFor returns MinMemory, because more memory has no benefit.
func (s *Source) MemoryFor(int64) int64 { return s.MinMemory() }

// ScratchFor returns 0, because the rows remain in their file.
func (s *Source) ScratchFor(int64) int64 { return 0 }

// Close closes the file of the sample.
func (s *Source) Close() error { return s.opt.File.Close() }

// SpoolBytes returns 0, because a sample needs no scratch files for converted rows.
func (s *Source) SpoolBytes() int64 { return 0 }
