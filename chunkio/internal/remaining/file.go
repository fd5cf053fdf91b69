package remaining

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/stream"
)

// remainMark precedes the bitmap of a set of rows that names the remaining rows in place of the deleted ones. A second
// bitmap may follow, of rows that do not remain. No bitmap begins like it: a bitmap begins with a number of at most 32 bits.
const remainMark = "\xff\xff\xff\xff\xff\xff\xff\xff"

// KeepOnly returns the set of deleted rows for OpenRemaining that leaves only these rows of a file, without some others.
func KeepOnly(rows, others Bitmap) []byte {
	if len(rows.portable) == 0 {
		rows.portable = make([]byte, 8)
	}
	return slices.Concat([]byte(remainMark), rows.portable, others.portable)
}

// readDeletedRows returns the rows that a file of total rows lacks, from the argument of OpenRemaining.
func readDeletedRows(deleted []byte, total uint64) (list runs, err error) {
	data, namesRemaining := bytes.CutPrefix(deleted, []byte(remainMark))
	rows, rest, err := cutBitmap(data)
	if err != nil {
		return nil, err
	}
	var others Bitmap
	if len(rest) > 0 {
		if !namesRemaining {
			return nil, fmt.Errorf("the bitmap of its deleted rows ends %d bytes before its data", len(rest))
		}
		if others, err = ParseBitmap(rest); err != nil {
			return nil, err
		}
	}
	if last := max(rows.end, others.end); last > total {
		return nil, fmt.Errorf("its table names row %d of it, and it has only %d rows", last-1, total)
	}
	if !namesRemaining {
		return rows.listRuns(), nil
	}
	all := func(yield func(start, end uint64) bool) {
		if total > 0 {
			yield(0, total)
		}
	}
	return subtractRuns(all, subtractRuns(rows.listRuns(), others.listRuns())), nil
}

// File is a Parquet file without the deleted rows.
type File struct {
	all    *parquet.File
	leaves []format.Leaf
	groups []groupRows
	rows   []int64 // remaining rows of each group
	digest uint64
	pool   sync.Pool // of *[]float64
}

// OpenRemaining returns the file without the rows in deleted, a bitmap in the format of a Bitmap or a result of
// KeepOnly. Closing it closes f. If the file and the bitmap need more than memory bytes together, or if the bitmap has
// rows that the file lacks, it fails and f stays open.
func OpenRemaining(f *parquet.File, deleted []byte, memory int64) (*File, error) {
	total := int64(0)
	for _, rows := range f.GroupRows() {
		total += rows
	}
	deletedRows, err := readDeletedRows(deleted, uint64(total))
	if err != nil {
		return nil, format.PlaceError(f.Input().Name(), -1, "", err)
	}
	r := &File{all: f, leaves: slices.Clone(f.Leaves()), digest: f.FooterDigest() ^ xxhash.Sum64(deleted)}
	if need := r.HeldBytes() + total/rowsPerByte; need > memory {
		return nil, &stream.MemoryError{What: "the deleted rows of " + f.Input().Name(), Need: need, Limit: memory}
	}
	for _, rows := range f.GroupRows() {
		r.groups = append(r.groups, groupRows{all: rows})
	}
	g, first := 0, uint64(0) // the first row of group g
	for row, end := range deletedRows {
		for ; row < end; row++ {
			for ; row >= first+uint64(r.groups[g].all); g++ {
				first += uint64(r.groups[g].all)
			}
			r.groups[g].deleteRow(int64(row - first))
		}
	}
	for i := range r.groups {
		r.groups[i].countRemaining()
		r.rows = append(r.rows, r.groups[i].remaining)
	}
	for i := range r.leaves {
		l := &r.leaves[i]
		if l.Nulls > 0 { // it is unknown how many of them are deleted
			l.Nulls = -1
		}
		l.Scratch += 8*pieceValues(l.Width) + 16*minPiece*l.PerRow // a piece of numbers, and one of lists
	}
	return r, nil
}

// AllRows returns the file with the deleted rows.
func (f *File) AllRows() *parquet.File { return f.all }

// Close implements format.File.
func (f *File) Close() error { return f.all.Close() }

// Leaves implements format.File.
func (f *File) Leaves() []format.Leaf { return f.leaves }

// GroupRows implements format.File: it returns the number of remaining rows of each group.
func (f *File) GroupRows() []int64 { return f.rows }

// GroupBytes implements format.Weighed: it returns the bytes of group g in the file, or 0 if all its rows are deleted.
func (f *File) GroupBytes(g int) int64 {
	if f.rows[g] == 0 {
		return 0
	}
	return f.all.GroupBytes(g)
}

// rowsPerByte is the number of rows that a byte of memory holds: a bit for each row.
const rowsPerByte = 8

// HeldBytes implements format.File.
func (f *File) HeldBytes() int64 {
	n := f.all.HeldBytes() + leafBytes*int64(len(f.leaves))
	for i := range f.groups {
		n += f.groups[i].heldBytes()
	}
	return n
}

// FooterDigest implements format.File: it returns a digest of the footer and of the deleted rows.
func (f *File) FooterDigest() uint64 { return f.digest }

// Bounds implements format.Bounded: the bounds of all rows are bounds of the remaining ones.
func (f *File) Bounds(g, l int) format.Bounds {
	b := f.all.Bounds(g, l)
	switch rows := &f.groups[g]; {
	case b.Nulls == b.Rows:
		b.Nulls = rows.remaining
	case b.Nulls > 0 && rows.deleted != nil:
		b.Nulls = -1
	}
	b.Rows = f.rows[g]
	return b
}

// Open implements format.File.
func (f *File) Open(ctx context.Context, g int, leaves []int) (format.Group, error) {
	opened, err := f.all.Open(ctx, g, leaves)
	if err != nil || f.groups[g].deleted == nil {
		return opened, err
	}
	return &group{all: opened.(allRows), file: f, rows: &f.groups[g]}, nil
}

// PhysicalSkips returns a bit set of the rows of group g, including the deleted ones, that are not to be copied: the
// deleted rows, and the rows in skip, a bit set of the remaining rows. It returns skip if no row of the group is deleted.
func (f *File) PhysicalSkips(g int, skip []uint64) []uint64 {
	rows := &f.groups[g]
	if rows.deleted == nil {
		return skip
	}
	all := slices.Clone(rows.deleted)
	if skip == nil {
		return all
	}
	at := 0
	for w, gone := range rows.deleted {
		for left := ^gone; left != 0; left &= left - 1 {
			if row := 64*w + bits.TrailingZeros64(left); int64(row) < rows.all {
				if skip[at/64]>>(at%64)&1 != 0 {
					all[w] |= left & -left
				}
				at++
			}
		}
	}
	return all
}
