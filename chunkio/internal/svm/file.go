// Package svm reads libsvm text, "label index:value index:value …", one row a line. Text has no footer to locate
// rows, so the first reading writes them to a spool, in binary and in row groups (parse.go), and all later ones read
// the spool (group.go). Rows of other origin use the same spool (build.go).
package svm

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// The names and indices of the two columns: the class, and the entries as a map.
const (
	Label   = "label"
	Entries = "x"

	labelLeaf   = 0
	entriesLeaf = 1
)

// Table is the result of reading a text once: rows in a spool, which later changes of the text do not affect.
type Table struct {
	spool   Spool
	groups  []extent
	rows    []int64 // of the groups
	digest  uint64  // of the text
	noLabel string  // the reason if the labels are no column; empty if each row has one
	name    string  // of the entries, if they do not come from a text: then there are no labels
}

func (t *Table) entriesLeafIndex() int {
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

// extent is the position of a group in the spool: its labels (float64), the end of each row's entries (uint32,
// counted within the group), all indices (uint32) and all values (float64).
type extent struct {
	at      int64
	entries int64
}

// scratchBytes bounds the memory of a decoding call without its destination.
const scratchBytes = pieceBytes + 8*groupRows

// File is a Table as a format.File. It holds the text's input open, as others do.
type File struct {
	*Table
	in format.Input
}

// Open makes a File of the table of in, which is closed with it.
func (t *Table) Open(in format.Input) *File { return &File{t, in} }

// Input returns the text.
func (f *File) Input() format.Input { return f.in }

// Leaves implements format.File.
func (f *File) Leaves() []format.Leaf {
	entries := format.Leaf{Name: Entries, Type: "map", Why: "maps", NoClass: "a map", Nulls: -1, MaybeNaN: true, Scratch: scratchBytes, Entries: "double"}
	if f.name != "" {
		entries.Name = f.name
		return []format.Leaf{entries}
	}
	return []format.Leaf{
		{Name: Label, Type: "double", Why: f.noLabel, NoClass: f.noLabel, Width: 1, Nulls: 0, MaybeNaN: true, Scratch: scratchBytes, TextScratch: scratchBytes},
		entries,
	}
}

// GroupRows implements format.File.
func (f *File) GroupRows() []int64 { return f.rows }

// GroupBytes implements format.Weighed.
func (f *File) GroupBytes(g int) int64 { return f.groups[g].byteSize(f.rows[g]) }

func (e extent) byteSize(rows int64) int64 { return 12*rows + 12*e.entries }

// HeldBytes implements format.File.
func (f *File) HeldBytes() int64 { return 24 * int64(len(f.groups)) }

// FooterDigest implements format.File: a text has no footer, so it is the digest of all of it.
func (f *File) FooterDigest() uint64 { return f.digest }

// Close implements format.File.
func (f *File) Close() error { return f.in.Close() }

// Open implements format.File.
func (f *File) Open(_ context.Context, g int, _ []int) (format.Group, error) {
	if g < 0 || g >= len(f.groups) {
		return nil, format.PlaceError(f.in.Name(), -1, "", fmt.Errorf("there is no row group %d", g))
	}
	return &group{file: f, number: g}, nil
}
