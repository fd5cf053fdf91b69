package stream

import (
	"context"
	"fmt"
	"iter"
	"sort"
)

// Source is a table that can be read in order, block by block, any number of times.
type Source interface {
	// Columns lists the features in order; chunks have the same columns.
	Columns() []Column
	// Rows returns the number of rows, including rows that will be dropped, or -1 if unknown before reading (a stream).
	Rows() int64
	// Chunks yields the blocks of the rows in r, in order. Both ends of r must be cuts (see Cuts). A chunk is valid
	// until the next iteration. An error ends the sequence. If the caller leaves the loop early, Chunks waits until all
	// its workers have stopped.
	Chunks(ctx context.Context, r Range) iter.Seq2[*Chunk, error]
	// Cuts lists the global row positions at which a range may start or end. These are the starts of the row groups and
	// the end of the input. It returns nil if they are unknown (a stream).
	Cuts() []int64
}

// Range is the half-open interval of global row positions [From, To). The zero value means all rows.
type Range struct{ From, To int64 }

// All reports whether r is the zero value, meaning all rows.
func (r Range) All() bool { return r == Range{} }

// Shard returns the rows of shard i of n (1 ≤ i ≤ n). Its ends are the cuts nearest to an equal division. The shards
// are disjoint and cover all rows, and their blocks are the blocks of the whole input. If there are fewer row groups
// than shards, some shards are empty: they are a Range with From == To. If src has no cuts, or i or n is wrong, the
// error is a *UsageError.
func Shard(src Source, i, n int) (Range, error) {
	if n < 1 || i < 1 || i > n {
		return Range{}, Usagef("shard %d/%d: want I/N with 1 <= I <= N", i, n)
	}
	cuts := src.Cuts()
	if len(cuts) < 2 {
		return Range{}, Usagef("a shard needs an input whose row groups are known beforehand, and a stream has none; save it to a file first")
	}
	r := Range{nearestCut(cuts, i-1, n), nearestCut(cuts, i, n)}
	if r.From == r.To { // the zero Range would mean all rows
		end := cuts[len(cuts)-1]
		return Range{end, end}, nil
	}
	return r, nil
}

// nearestCut returns the cut nearest to i/n of the rows. If two cuts are equally near, it returns the earlier one.
func nearestCut(cuts []int64, i, n int) int64 {
	goal := float64(cuts[len(cuts)-1]) * float64(i) / float64(n)
	at := sort.Search(len(cuts), func(j int) bool { return float64(cuts[j]) >= goal })
	if at > 0 && goal-float64(cuts[at-1]) <= float64(cuts[at])-goal {
		at--
	}
	return cuts[at]
}

// MissingPolicy determines how a Source treats a missing entry (null, NaN, ±Inf).
type MissingPolicy int

const (
	// MissingError ends the Source with a *DataError that wraps ErrMissing and names the row and the column.
	MissingError MissingPolicy = iota
	// MissingDropRow leaves out rows with a missing entry in any feature.
	MissingDropRow
	// MissingKeep delivers NaN, which statistics later replace by the mean or by zero.
	MissingKeep
	// MissingZero delivers 0. In sparse rows it leaves out the entry.
	MissingZero
)

// Input describes one input file of a run.
type Input struct {
	Path        string `json:"path"`
	Rows        int64  `json:"rows"`
	Bytes       int64  `json:"bytes"`
	Fingerprint string `json:"fingerprint"`
}

// LeftOut is a column that is not a feature, with the reason.
type LeftOut struct {
	Name   string   `json:"name"`
	Why    string   `json:"why"`
	Column Position `json:"column,omitzero"`
}

// LeftOut returns the record that c is not a feature, with the reason why.
func (c Column) LeftOut(why string) LeftOut { return LeftOut{c.Name, why, c.Position} }

func (r Range) String() string { return fmt.Sprintf("[%d, %d)", r.From, r.To) }

// Table is one version of a table of a data lake. The log of the table lists the files that belong to the version.
type Table struct {
	ID      string `json:"id,omitempty"` // identifies the table, wherever it is; empty if it is unknown
	Path    string `json:"path"`
	Format  string `json:"format"`  // "delta" or "iceberg"
	Version int64  `json:"version"` // of Iceberg the id of a snapshot, which may be any number
	Time    string `json:"time"`    // time of the version, RFC 3339
	// Schema identifies the columns as which the table was read. It is empty if the data files have the names of the table.
	Schema string `json:"schema,omitempty"`
}

// IsSame reports whether t and o are versions of one table. Without identifiers it compares the paths.
func (t *Table) IsSame(o *Table) bool {
	if t.ID != "" && o.ID != "" {
		return t.ID == o.ID
	}
	return t.Path == o.Path
}
