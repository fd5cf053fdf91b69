package remaining

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ParseBitmap parses a Roaring bitmap of row positions in the portable 64-bit format of
// https://github.com/RoaringBitmap/RoaringFormatSpec. It checks everything in it.
func ParseBitmap(portable []byte) (*roaring64.Bitmap, error) {
	b, r := roaring64.New(), bytes.NewReader(portable)
	err := format.Guard(func() error {
		if _, err := b.ReadPortableFrom(r); err != nil {
			return err
		}
		return b.Validate()
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("the bitmap of its deleted rows is damaged: %w", err)
	case r.Len() > 0:
		return nil, fmt.Errorf("the bitmap of its deleted rows ends %d bytes before its data", r.Len())
	}
	return b, nil
}

// remainMark precedes the bitmap of a set of rows that names the remaining rows in place of the deleted ones. No bitmap
// begins like it: a bitmap begins with a number of at most 32 bits.
const remainMark = "\xff\xff\xff\xff\xff\xff\xff\xff"

// KeepOnly returns the set of deleted rows for OpenRemaining that leaves only these rows of a file.
func KeepOnly(rows *roaring64.Bitmap) ([]byte, error) {
	bitmap, err := rows.ToBytes()
	return append([]byte(remainMark), bitmap...), err
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

// OpenRemaining returns the file without the rows in deleted, a bitmap in the format of ParseBitmap or a result of
// KeepOnly. Closing it closes f. If the file and the bitmap need more than memory bytes together, or if the bitmap has
// rows that the file lacks, it fails and f stays open.
func OpenRemaining(f *parquet.File, deleted []byte, memory int64) (*File, error) {
	bitmap, namesRemaining := bytes.CutPrefix(deleted, []byte(remainMark))
	b, err := ParseBitmap(bitmap)
	if err != nil {
		return nil, format.PlaceError(f.Input().Name(), -1, "", err)
	}
	total := int64(0)
	for _, rows := range f.GroupRows() {
		total += rows
	}
	if !b.IsEmpty() && b.Maximum() >= uint64(total) {
		return nil, format.PlaceError(f.Input().Name(), -1, "", fmt.Errorf("its table names row %d of it, and it has only %d rows", b.Maximum(), total))
	}
	r := &File{all: f, leaves: slices.Clone(f.Leaves()), digest: f.FooterDigest() ^ xxhash.Sum64(deleted)}
	if need := r.HeldBytes() + total/rowsPerByte; need > memory {
		return nil, &stream.MemoryError{What: "the deleted rows of " + f.Input().Name(), Need: need, Limit: memory}
	}
	if namesRemaining {
		b.Flip(0, uint64(total))
	}
	start, it := uint64(0), b.Iterator()
	for _, rows := range f.GroupRows() {
		g := groupRows{all: rows}
		for it.HasNext() && it.PeekNext() < start+uint64(rows) {
			g.deleteRow(int64(it.Next() - start))
		}
		start += uint64(rows)
		g.countRemaining()
		r.groups, r.rows = append(r.groups, g), append(r.rows, g.remaining)
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
