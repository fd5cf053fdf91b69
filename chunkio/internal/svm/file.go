// Package svm reads libsvm text, "label index:value index:value …", one row per line. Text has no footer to locate
// rows, so the first pass writes the rows to a spool file, in binary form and in row groups (parse.go). All later
// passes read the spool (group.go). Rows from other sources can be written to the same kind of spool (build.go).
package svm

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// The names and indices of the two columns: the class label, and the entries as a map.
const (
	Label   = "label"
	Entries = "x"

	labelLeaf   = 0
	entriesLeaf = 1
)

// Table is the result of reading a text once. Its rows are in a spool, so later changes of the text have no effect.
type Table struct {
	Format string // name of the format of the text, for messages; empty if the rows come from elsewhere

	spool   Spool
	groups  []extent
	rows    []int64 // number of rows in each group
	digest  uint64  // digest of the text
	noLabel string  // the reason why the labels are not a column; empty if each row has one label
	name    string  // name of the entries if they do not come from a text; then there are no labels

	keys, asides []string // see format.Leaf
}

// NameFeatures names the features, as [format.Leaf] describes. digest is that of the names.
func (t *Table) NameFeatures(keys, asides []string, digest uint64) {
	t.keys, t.asides = keys, asides
	t.digest = (t.digest ^ digest) * 0x100000001b3 // as FNV-1a mixes
}

func (t *Table) indexOfEntriesLeaf() int {
	if t.name != "" {
		return 0
	}
	return entriesLeaf
}

// Spool is the file that holds the rows.
type Spool interface {
	Write(p []byte) (int, error)
	ReadAt(p []byte, at int64) (int, error)
}

// extent is the position of a group in the spool: its labels (float64), the end of the entries of each row (uint32,
// counted from the beginning of the group), all indices (uint32) and all values (float64).
type extent struct {
	at      int64
	entries int64
}

// scratchBytes is an upper bound on the memory of a decoding call, not counting its destination.
const scratchBytes = pieceBytes + 8*groupRows

// File is a Table as a format.File. Like other files, it keeps its input open.
type File struct {
	*Table
	in format.Input
}

// OpenFrom returns a File of the table, which was read from the input in. Closing the file closes the input.
func (t *Table) OpenFrom(in format.Input) *File { return &File{t, in} }

// Input returns the input from which the text was read.
func (f *File) Input() format.Input { return f.in }

// Leaves implements format.File: it returns the leaf columns of the schema.
func (f *File) Leaves() []format.Leaf {
	perRow := int64(0)
	for g, rows := range f.rows {
		perRow = max(perRow, (f.groups[g].entries+rows-1)/max(rows, 1))
	}
	entries := format.Leaf{Name: Entries, Type: "map", Why: "maps", NoClass: "a map", Nulls: -1, MaybeNaN: true, Scratch: scratchBytes, Entries: "double", PerRow: perRow, Keys: f.keys, Asides: f.asides}
	if f.name != "" {
		entries.Name = f.name
		return []format.Leaf{entries}
	}
	return []format.Leaf{
		{Name: Label, Type: "double", Why: f.noLabel, NoClass: f.noLabel, Width: 1, Nulls: 0, MaybeNaN: true, Scratch: scratchBytes, TextScratch: scratchBytes},
		entries,
	}
}

// GroupRows implements format.File: it returns the number of rows of each group.
func (f *File) GroupRows() []int64 { return f.rows }

// GroupBytes implements format.Weighed: it returns the bytes of group g in the file.
func (f *File) GroupBytes(g int) int64 { return f.groups[g].bytesInSpool(f.rows[g]) }

func (e extent) bytesInSpool(rows int64) int64 { return 12*rows + 12*e.entries }

// HeldBytes implements format.File: it returns the memory of the open file, mainly of its footer.
func (f *File) HeldBytes() int64 {
	return 24*int64(len(f.groups)) + format.KeyBytes(f.keys)
}

// FooterDigest implements format.File: a text has no footer, so this is the digest of the whole text.
func (f *File) FooterDigest() uint64 { return f.digest }

// Close implements format.File.
func (f *File) Close() error { return f.in.Close() }

// Open implements format.File: it prepares group g for decoding.
func (f *File) Open(_ context.Context, g int, _ []int) (format.Group, error) {
	if g < 0 || g >= len(f.groups) {
		return nil, format.PlaceError(f.in.Name(), -1, "", fmt.Errorf("there is no row group %d", g))
	}
	return &group{file: f, number: g}, nil
}
