package rowsample

import (
	"cmp"
	"io"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/words"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Source reads a written sample as a stream.Source, from its start in every pass. It holds the
// positions of the rows, and a block while it reads.
type Source struct {
	open func() (io.Reader, error)
	head head
	Options
	drawn []bool // of the rows kept: those that are delivered
	most  int    // of them in a block
}

// Options say what of a sample is delivered.
type Options struct {
	Columns []stream.Column      // to deliver
	Index   []int                // their places among the columns of the sample
	Draw    int64                // so many rows, those of lowest hash; 0 means all
	Rows    int64                // of the whole table
	Missing stream.MissingPolicy // acts on the drawn rows
	Sparse  bool                 // rows are delivered as sparse ones: entries of 0 are absent
	Path    string               // of the file, in errors
}

// Open reads the positions of a sample of d columns. open starts the sample from its beginning.
func Open(d int, open func() (io.Reader, error)) (*Source, error) {
	s := &Source{open: open}
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

// Kept is the number of rows in the sample.
func (s *Source) Kept() int64 { return int64(len(s.head.positions)) }

// Keeps is the number of rows that it was to keep.
func (s *Source) Keeps() int64 { return int64(s.head.keep) }

// Seed is the seed that rows were drawn with.
func (s *Source) Seed() uint64 { return s.head.seed }

// With returns a Source of the same sample under other options.
func (s *Source) With(opt Options) *Source {
	t := &Source{open: s.open, head: s.head, Options: opt}
	t.drawn = t.draw()
	run, last := 0, int64(-1)
	for i, drawn := range t.drawn {
		if !drawn {
			continue
		}
		if b := t.block(i); b != last || run == t.height() {
			run, last = 0, b
		}
		run++
		t.most = max(t.most, run)
	}
	return t
}

// draw marks the rows of lowest hash.
func (s *Source) draw() []bool {
	n := len(s.head.positions)
	drawn := make([]bool, n)
	if s.Draw == 0 || s.Draw >= int64(n) {
		for i := range drawn {
			drawn[i] = true
		}
		return drawn
	}
	hash := func(i int) uint64 { return splitmix.Hash(s.head.seed, uint64(s.head.positions[i])) }
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), a-b) })
	for _, i := range order[:s.Draw] {
		drawn[i] = true
	}
	return drawn
}

// height is the most rows of a block, dropped ones too.
func (s *Source) height() int { return stream.BlockRows(len(s.Options.Columns)) }

// block is the position at which the block of a row starts in the table: blocks have a height
// that the columns decide, and start anew with every row group.
func (s *Source) block(i int) int64 {
	h := int64(s.height())
	start := s.head.starts[i]
	return start + (s.head.positions[i]-start)/h*h
}

// Columns implements stream.Source.
func (s *Source) Columns() []stream.Column { return s.Options.Columns }

// Rows implements stream.Source: those of the whole table.
func (s *Source) Rows() int64 {
	if n := len(s.head.positions); n > 0 { // beyond them where parts of the table are not there
		return max(s.Options.Rows, s.head.positions[n-1]+1)
	}
	return s.Options.Rows
}

// Cuts implements stream.Source: the starts of the row groups that the sample has rows of, and
// the end.
func (s *Source) Cuts() []int64 {
	cuts := append([]int64{0}, s.head.starts...)
	slices.Sort(cuts)
	return append(slices.Compact(cuts), s.Rows())
}

// reading is what decompressing a section takes: measured 5 MiB.
const reading = 6 << 20

// MinMemory is what a pass holds, with the positions.
func (s *Source) MinMemory() int64 {
	n, d := int64(len(s.head.positions)), int64(len(s.Options.Columns))
	return reading + 5*8*n + 8*int64(s.head.d) + int64(s.most)*(8*d+8) + 24*d
}

// MemoryFor is MinMemory: more brings nothing.
func (s *Source) MemoryFor(int64) int64 { return s.MinMemory() }

// ScratchFor is 0: the rows stay in the file that they are in.
func (s *Source) ScratchFor(int64) int64 { return 0 }

// Spooled is 0.
func (s *Source) Spooled() int64 { return 0 }
