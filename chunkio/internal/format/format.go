// Package format contains the interfaces that the readers of Parquet, Arrow IPC and libsvm files have in common. A file
// is opened from an Input, lists its columns (Leaf), and decodes them by row groups.
package format

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Input is the source of a file's bytes: see chunkio.Input.
type Input interface {
	io.ReaderAt
	io.Closer
	Size() int64
	Name() string
}

// Far is an Input that may be an object in a store, for which every ReadAt is a request.
type Far interface {
	Input
	Far() bool
}

// IsFar reports whether the input is an object in a store, for which every ReadAt is a request.
func IsFar(in Input) bool {
	f, ok := in.(Far)
	return ok && f.Far()
}

// Measured is an Input that counts the time spent on reading and decoding it.
type Measured interface {
	Input
	Busy() *stream.Busy
}

// BusyOf returns the counters of the time spent on reading and decoding the input, or nil.
func BusyOf(in Input) *stream.Busy {
	if m, ok := in.(Measured); ok {
		return m.Busy()
	}
	return nil
}

// Extent is a range of a file's bytes.
type Extent struct{ At, Size int64 }

// TotalBytes returns the total size of extents.
func TotalBytes(extents []Extent) (n int64) {
	for _, e := range extents {
		n += max(e.Size, 0)
	}
	return n
}

// Ranged is a Group that lists the byte ranges of the file that are read to decode leaves, so that they can be fetched
// together.
type Ranged interface {
	Group
	Extents(leaves []int) []Extent
}

// Decoding is one of the leaves that a Batched group decodes together.
type Decoding struct {
	Leaf int
	Dst  [][]float64 // as in Decode
	Err  error       // error of decoding this leaf

	// If Take is set, Dst has room for PieceRows rows only. Take is called after each piece, in order.
	PieceRows int64
	Take      func(from, to int64)
}

// DecodePieces calls a function that decodes to Dst for rows [from, to), whole or piece by piece.
func (d *Decoding) DecodePieces(from, to int64, decode func(from, to int64) error) error {
	if d.Take == nil {
		return decode(from, to)
	}
	for from < to {
		end := min(to, from+d.PieceRows)
		if err := decode(from, end); err != nil {
			return err
		}
		d.Take(from, end)
		from = end
	}
	return nil
}

// Batched is a Group that can decode many leaves together, with less effort than one by one.
type Batched interface {
	Group
	// DecodeAll does the same as calling Decode, in order, for rows [from, to) of each of the leaves. It stores their
	// errors in Err.
	DecodeAll(ctx context.Context, leaves []Decoding, from, to int64)
}

// RowMajor is a Group whose file contains the values row by row.
type RowMajor interface {
	Group
	// LeavesAtOnce returns the number of neighbouring leaves that are best decoded in one call, because their values in
	// a row are read together.
	LeavesAtOnce() int
}

// DecodeAll decodes rows [from, to) of leaves of a group: together if the group is Batched, else one by one.
func DecodeAll(ctx context.Context, g Group, leaves []Decoding, from, to int64) {
	if b, ok := g.(Batched); ok {
		b.DecodeAll(ctx, leaves, from, to)
		return
	}
	for i := range leaves {
		d := &leaves[i]
		d.Err = g.Decode(ctx, d.Leaf, from, to, d.Dst)
	}
}

// Weighed is a File that reports the bytes that each of its groups has in the file.
type Weighed interface {
	File
	GroupBytes(g int) int64
}

// ReadAt fills b from offset at. It returns an error with the offset if fewer bytes can be read: without this error, a
// file that was truncated during the pass would be accepted as a shorter file.
func ReadAt(in io.ReaderAt, b []byte, at int64) error {
	n, err := in.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &ReadError{at, len(b), n, err}
}

// ReadError reports that bytes of an input could not be read; it does not concern their contents.
type ReadError struct {
	at        int64
	want, got int
	err       error
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("read %d bytes at offset %d, got %d: %v", e.want, e.at, e.got, e.err)
}

// Unwrap returns the input's error.
func (e *ReadError) Unwrap() error { return e.err }

// Leaf is one physical column of an input file, according to the schema of the file. All files of a dataset have leaves
// with the same names, in any order.
type Leaf struct {
	Name string // flattened: "x", "a.b" for struct fields; a list has its column's name
	// Path contains the names of the column and of the fields inside its structs that lead to the leaf. It is nil if
	// the leaf is a whole column, whose name may contain dots too.
	Path []string
	Type string // the file's own type, for reports and for comparing schemas: "uint8", "decimal(10,2)", "list<float>"
	// Why is the reason why the leaf cannot be a feature ("text", "timestamp", "lists of varying length", "encoding
	// BYTE_STREAM_SPLIT cannot be decoded; rewrite …"); empty if it can.
	Why string
	// Refused marks a leaf that would be a feature if it could be decoded (Why contains the remedy). Selecting such a
	// leaf is an error, so that it is not lost silently.
	Refused bool
	// Width is the number of values per row: 1 for scalars, the length of fixed-size or constant-length lists, 0 for
	// other lists and for values that cannot be decoded. List is set for lists: it distinguishes a scalar emb from a
	// list with the single element emb[0].
	Width int
	List  bool
	// Entries is the type of the values of a map from integers (or from texts, if TextKeys is set) to numbers. Sparse
	// rows can be read from such a map. For other maps, NoEntries is the reason why they cannot be used.
	Entries, NoEntries string
	TextKeys           bool
	// Keys are the names of the features of sparse rows, in the order of their numbers, if the file has names; else nil.
	// Asides[i] is the reason that feature i is used only if its name is asked for, or empty. It is nil if there is no such
	// feature.
	Keys, Asides []string
	// Before and After count the columns of the input that are directly before and after the leaf and have no leaf of
	// their own, because no column of this program can hold their values.
	Before, After int
	// Nulls is the number of missing entries according to the metadata, or -1 if unknown. MaybeNaN is set for float
	// types, whose values may be NaN.
	Nulls    int64
	MaybeNaN bool
	// NoClass is the reason why the values of the leaf cannot be classes; empty if they can.
	NoClass string
	// Scratch is an upper bound on the memory, in bytes, that one decoding call uses in addition to its destination, in
	// any group.
	Scratch int64
	// TextScratch is the same bound as Scratch, but for a call of DecodeTexts, including the texts.
	TextScratch int64
	// PerSecond is the number of units per second of timestamps and times of day. UTC is set if a timestamp is in UTC;
	// otherwise its time zone is unknown.
	PerSecond int64
	UTC       bool
	// PerRow is the number of values in a row of a list or map, averaged over the rows of the group with the largest
	// average; 0 if unknown.
	PerRow int64
	// Index marks the leaf that is the index of a data frame, see MarkIndex.
	Index bool
	// Packed is the greatest number of bytes of the leaf in a group of the file.
	Packed int64
}

// ColumnPath returns Path, or the name of the column if the leaf is a whole column.
func (l *Leaf) ColumnPath() []string {
	if l.Path == nil {
		return []string{l.Name}
	}
	return l.Path
}

// KeyBytes returns the memory of the names of features.
func KeyBytes(keys []string) (n int64) {
	for _, key := range keys {
		n += 32 + int64(len(key)) // the string, and that of its reason in Leaf.Asides
	}
	return n
}

// WhyVarying is the value of Leaf.Why for lists whose rows differ in length.
const WhyVarying = "lists of varying length"

// MaxClasses limits the number of distinct values of a label, and MaxClassText limits their total bytes. A column that
// exceeds these limits is treated as an identifier or a text, not as a class.
const (
	MaxClasses   = 1 << 16
	MaxClassText = 64 * MaxClasses
)

// File is an opened file. It consists of groups of rows: Parquet row groups, or Arrow record batches. Its methods may
// be called concurrently.
type File interface {
	Leaves() []Leaf
	GroupRows() []int64 // rows of each group, in order
	// Open prepares group g for decoding the given leaves.
	Open(ctx context.Context, g int, leaves []int) (Group, error)
	// HeldBytes returns the memory of the open file, mainly its parsed footer. Memory for decoding is not included.
	HeldBytes() int64
	// FooterDigest returns a digest that differs if the file has changed since it was opened before.
	FooterDigest() uint64
	Close() error
}

// GroupStart returns the first row of group g within its file. It sums all groups before it, so use it for messages
// only: calling it for each of a million groups took three quarters of the time of a pass.
func GroupStart(f File, g int) (start int64) {
	for _, rows := range f.GroupRows()[:g] {
		start += rows
	}
	return start
}

// Group decodes columns of one row group. Its methods may be called concurrently for different leaves or row ranges.
//
// Errors are *stream.DataError and contain the position in the data as far as it is known. Rows are counted within the
// file. A panic of the decoding library is returned as an error.
type Group interface {
	// Decode writes rows [from, to) of the group's leaf l (width ≥ 1): element e of row r goes to dst[e][r-from]; if
	// dst[e] is nil, the element is not needed. A null is written as Null; NaN and ±Inf in the file stay unchanged.
	Decode(ctx context.Context, l int, from, to int64, dst [][]float64) error
	// DecodeLists reads rows [from, to) of a list leaf, whose lists may differ in length, into dst, reusing its memory.
	// A null list is read as an empty list, and its row is marked in dst.Null; a null element is Null. For a map with
	// Entries, the values are read.
	DecodeLists(ctx context.Context, l int, from, to int64, dst *Lists) error
	// DecodeKeys reads the keys of a map with Entries in the same way as DecodeLists.
	DecodeKeys(ctx context.Context, l int, from, to int64, dst *Lists) error
	// DecodeTexts reads rows [from, to) of leaf l, whose NoClass is empty, as text. It calls emit several times, each
	// time for the next few rows. ids contains the index of each row's text in values, or -1 for a null. Both arguments
	// are valid until emit returns.
	DecodeTexts(ctx context.Context, l int, from, to int64, emit func(ids []int32, values *text.List) error) error
	Close()
}

// Lists holds the values of consecutive list rows: row i has Values[Ptr[i]:Ptr[i+1]].
type Lists struct {
	Ptr    []int
	Values []float64
	Null   []bool // by row: the list is null
}

// Null is the float64 that represents a null, so that nulls and NaNs can be counted separately.
var Null = math.Float64frombits(stream.NullBits)

// TextKeyed is a Group that can read the keys of a map with TextKeys in the same way as DecodeLists. Each key is read
// as the number that the function number returns for its text. The text is only valid during this call.
type TextKeyed interface {
	DecodeTextKeys(ctx context.Context, l int, from, to int64, number func(key []byte) float64, dst *Lists) error
}

// WhyNoEntries returns the reason why a map with these types cannot be read as sparse rows; empty if it can. whyNoValue
// is the reason why its values are not numbers; empty if they are.
func WhyNoEntries(key, value, whyNoValue string) string {
	if whyNoValue == "" && (strings.HasPrefix(key, "int") || strings.HasPrefix(key, "uint")) {
		return ""
	}
	return fmt.Sprintf("a map of %s to %s, not of integers to numbers", key, value)
}

// IsNull reports whether x represents a null, as opposed to a NaN of the file.
func IsNull(x float64) bool { return math.Float64bits(x) == stream.NullBits }

// Resize returns a slice of n elements with arbitrary values. It uses the memory of old if this is large enough.
func Resize[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	return old[:n]
}

// Bounds are the bounds of a leaf's values in one group, according to the metadata of the file.
type Bounds struct {
	Rows     int64
	Nulls    int64 // -1 if unknown
	Min, Max Bound // every value that is neither null nor NaN is between them
}

// Bound is one end of Bounds. It is not necessarily equal to a value, because writers truncate long texts.
type Bound struct {
	Known   bool
	Number  float64      // for numbers and booleans, as Decode returns them
	Text    []byte       // for texts, bytes and decimals, as DecodeTexts returns them
	Instant text.Instant // for dates and times
}

// Bounded is a File whose metadata contain bounds of the values of leaves.
type Bounded interface {
	// Bounds returns the known bounds of leaf l in group g. Leaf l need not be a feature.
	Bounds(g, l int) Bounds
}
