package mtx

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/stream"
)

// entry is one value of the matrix. Rows are counted from 0, columns from 1.
type entry struct {
	row, column uint32
	value       float64
}

const (
	entryBytes = 16
	// maxBuffered is the largest number of entries that are sorted in memory.
	maxBuffered = 1 << 20
	// minPiece and maxPiece limit the number of entries of a run that are read at a time.
	minPiece, maxPiece = 1 << 8, 1 << 14
)

// sorter sorts entries by row and column in bounded memory: full buffers are sorted and written to the spool as runs,
// which are merged at the end.
type sorter struct {
	name   string
	spool  svm.Spool
	limit  int64 // in bytes: a 16th for the buffer, an 8th for the pieces of the runs, three quarters for the rows
	most   int   // number of entries that buffer may have
	buffer []entry
	runs   []*run
	size   int64       // bytes of all runs in the spool
	rows   *rowBuilder // if not nil, it gets all entries, which are in order, and there are no runs

	firstColumn uint32 // the column that becomes index 0
}

// rowBuilder makes the rows of a table from entries in the order of rows and columns.
type rowBuilder struct {
	name        string
	table       *svm.Builder
	completed   int64 // number of completed rows
	last        entry // the entry before; its column is 0 if there is none
	firstColumn uint32
}

func (s *sorter) newRowBuilder(spool svm.Spool) *rowBuilder {
	return &rowBuilder{name: s.name, table: svm.NewBuilder(svm.Entries, spool, s.limit/4*3), firstColumn: s.firstColumn}
}

func (b *rowBuilder) addEntry(ctx context.Context, e entry) error {
	if compareEntries(e, b.last) == 0 {
		d := stream.Dataf(b.name, "the entry in row %d and column %d occurs twice", e.row+1, e.column)
		d.Remedy = stream.PlainText("add such entries up before, or keep one of them")
		return d
	}
	b.last = e
	if err := b.completeRows(ctx, int64(e.row)); err != nil {
		return err
	}
	return b.table.AddEntry(e.column-b.firstColumn, e.value)
}

func (b *rowBuilder) completeRows(ctx context.Context, to int64) error {
	for ; b.completed < to; b.completed++ {
		if b.completed%(1<<12) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := b.table.EndRow(); err != nil {
			return err
		}
	}
	return nil
}

// run is a sorted sequence of entries: first the entries in piece, then the entries in the spool.
type run struct {
	piece    []entry
	buffer   []entry // memory of the pieces that are read from the spool
	at, left int64   // position in the spool, number of entries
}

func newSorter(name string, spool svm.Spool, limit int64) *sorter {
	return &sorter{name: name, spool: spool, limit: limit, most: int(min(max(limit/16/entryBytes, 1), maxBuffered))}
}

func compareEntries(a, b entry) int {
	return cmp.Compare(uint64(a.row)<<32|uint64(a.column), uint64(b.row)<<32|uint64(b.column))
}

func (s *sorter) addEntry(ctx context.Context, e entry) error {
	if s.rows != nil {
		if compareEntries(e, s.rows.last) < 0 {
			return ErrOrder
		}
		return s.rows.addEntry(ctx, e)
	}
	if len(s.buffer) == s.most {
		if err := s.writeRun(); err != nil {
			return err
		}
	}
	s.buffer = append(s.buffer, e)
	return nil
}

func (s *sorter) writeRun() error {
	slices.SortFunc(s.buffer, compareEntries)
	s.runs = append(s.runs, &run{at: s.size, left: int64(len(s.buffer))})
	var raw []byte
	for piece := range slices.Chunk(s.buffer, maxPiece) {
		raw = raw[:0]
		for _, e := range piece {
			raw = binary.LittleEndian.AppendUint32(raw, e.row)
			raw = binary.LittleEndian.AppendUint32(raw, e.column)
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(e.value))
		}
		if _, err := s.spool.Write(raw); err != nil {
			return err
		}
		s.size += int64(len(raw))
	}
	s.buffer = s.buffer[:0]
	return nil
}

func (s *sorter) openRunsAsHeap() ([]*run, error) {
	slices.SortFunc(s.buffer, compareEntries)
	const pieceBytes = 2 * entryBytes // of an entry, with its bytes in the spool
	piece := min(max(s.limit/8/pieceBytes/int64(max(len(s.runs), 1)), minPiece), maxPiece)
	if need := 8 * pieceBytes * int64(minPiece) * int64(len(s.runs)); need > s.limit {
		return nil, &stream.MemoryError{What: "sorting the entries of a matrix by rows", Need: need, Limit: s.limit}
	}
	var runs []*run
	if len(s.buffer) > 0 {
		runs = append(runs, &run{piece: s.buffer})
	}
	for _, r := range s.runs {
		r.buffer = make([]entry, min(piece, r.left))
		if _, err := s.refillPiece(r); err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	for i := len(runs) / 2; i >= 0; i-- {
		siftDown(runs, i)
	}
	return runs, nil
}

// writeTable merges the runs, and appends their rows to the spool.
func (s *sorter) writeTable(ctx context.Context, rows int64, digest uint64) (*svm.Table, error) {
	to := s.rows
	if to == nil {
		to = s.newRowBuilder(&spoolEnd{s.spool, s.size})
		if err := s.mergeRuns(ctx, to); err != nil {
			return nil, err
		}
	}
	if err := to.completeRows(ctx, rows); err != nil {
		return nil, err
	}
	return to.table.FinishTable(digest)
}

func (s *sorter) mergeRuns(ctx context.Context, to *rowBuilder) error {
	merged, err := s.openRunsAsHeap()
	if err != nil {
		return err
	}
	for len(merged) > 0 {
		if err := to.addEntry(ctx, merged[0].piece[0]); err != nil {
			return err
		}
		merged[0].piece = merged[0].piece[1:]
		more, err := s.refillPiece(merged[0])
		if err != nil {
			return err
		}
		if !more {
			merged[0] = merged[len(merged)-1]
			merged = merged[:len(merged)-1]
		}
		siftDown(merged, 0)
	}
	return nil
}

// refillPiece reads further entries of a run from the spool if its piece is used up. It returns false at the end of the
// run.
func (s *sorter) refillPiece(r *run) (bool, error) {
	if len(r.piece) > 0 || r.left == 0 {
		return len(r.piece) > 0, nil
	}
	n := min(r.left, int64(len(r.buffer)))
	raw := make([]byte, n*entryBytes)
	if err := format.ReadAt(s.spool, raw, r.at); err != nil {
		return false, fmt.Errorf("the scratch file of the entries: %w", err)
	}
	r.at, r.left = r.at+int64(len(raw)), r.left-n
	r.piece = r.buffer[:n]
	for i := range r.piece {
		b := raw[i*entryBytes:]
		r.piece[i] = entry{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))}
	}
	return true, nil
}

// siftDown restores the order of a heap of runs, with the smallest next entry on top, after runs[i] changed.
func siftDown(runs []*run, i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(runs); child++ {
			if compareEntries(runs[child].piece[0], runs[least].piece[0]) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		runs[i], runs[least] = runs[least], runs[i]
		i = least
	}
}

// spoolEnd is the part of a spool that begins at an offset.
type spoolEnd struct {
	svm.Spool
	from int64
}

func (s *spoolEnd) ReadAt(p []byte, at int64) (int, error) { return s.Spool.ReadAt(p, s.from+at) }
