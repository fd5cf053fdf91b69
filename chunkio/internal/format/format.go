// Package format is common to the readers of Parquet, Arrow IPC and libsvm files: a file opens from an Input, lists
// its columns (Leaf), and decodes them by row groups.
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

// IsFar reports whether every ReadAt of the input is a request.
func IsFar(in Input) bool {
	f, ok := in.(Far)
	return ok && f.Far()
}

// Measured is an Input that has counters of the time spent on reading and decoding.
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

// Ranged is a Group that lists the bytes of the file that decoding leaves reads, so that they can be fetched
// together.
type Ranged interface {
	Group
	Extents(leaves []int) []Extent
}

// Decoding is one of many leaves that a Batched group decodes together.
type Decoding struct {
	Leaf int
	Dst  [][]float64 // as in Decode
	Err  error       // the result
}

// Batched is a Group that decodes many leaves at less cost than one by one.
type Batched interface {
	Group
	// DecodeAll calls Decode, in order, for rows [from, to) of each of the leaves, and notes their errors.
	DecodeAll(ctx context.Context, leaves []Decoding, from, to int64)
}

// DecodeAll decodes leaves of a group as Batched does.
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

// Weighed is a File that knows the bytes of each group.
type Weighed interface {
	File
	GroupBytes(g int) int64
}

// ReadAt fills b from offset at. A shorter read is an error with its offset, so that a file that shrank while it was
// read is not taken for a shorter one.
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

// ReadError reports that bytes of an input could not be read, whatever their contents.
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

// Leaf is one physical column of an input file, according to the file's schema. All files of a dataset have the same
// leaves, by name, in any order.
type Leaf struct {
	Name string // flattened: "x", "a.b" for struct fields; a list has its column's name
	// Path is the column and the fields inside its structs that lead to the leaf; nil for a column itself, whose name
	// may contain dots too.
	Path []string
	Type string // the file's own type, for reports and for comparing schemas: "uint8", "decimal(10,2)", "list<float>"
	// Why is the reason why the leaf cannot be a feature ("text", "timestamp", "lists of varying length", "encoding
	// BYTE_STREAM_SPLIT cannot be decoded; rewrite …"); empty if it can.
	Why string
	// Refused marks a leaf that would be a feature but cannot be decoded (Why contains the remedy), as opposed to one
	// that never could: selecting it is an error, not a silent loss.
	Refused bool
	// Width is the number of values a row: 1 for scalars, the length of fixed-size or constant-length lists, 0 for
	// other lists and for values that cannot be decoded. List distinguishes emb (width 1) from emb[0].
	Width int
	List  bool
	// Entries is the type of the values of a map from integers (with TextKeys: from texts) to numbers, which sparse
	// rows can be read from; NoEntries is the reason why another map cannot.
	Entries, NoEntries string
	TextKeys           bool
	// Before and After count the columns of the input right before and after the leaf that are no leaves, as no
	// column of this program holds their values.
	Before, After int
	// Nulls is the number of missing entries according to the metadata, or -1 if unknown. Only non-float types are
	// free of NaN; MaybeNaN is set for the others.
	Nulls    int64
	MaybeNaN bool
	// NoClass is the reason why the values of the leaf cannot be classes; empty if they can.
	NoClass string
	// Scratch bounds the bytes that one decode call may hold in addition to its destination, over all groups.
	Scratch int64
	// TextScratch is the same for DecodeTexts, including the texts.
	TextScratch int64
	// PerSecond is the unit of timestamps and times of day. UTC is set if a timestamp is in that time zone; otherwise
	// its zone is unknown.
	PerSecond int64
	UTC       bool
	// PerRow is the number of values in a row of a list or map, on average over the group in which it is largest; 0
	// if unknown.
	PerRow int64
	// Index marks the leaf of the index of a data frame, see MarkIndex.
	Index bool
	// Packed is the largest number of bytes that the leaf takes in a group of the file.
	Packed int64
}

// WhyVarying is the reason of a list leaf whose rows differ in length.
const WhyVarying = "lists of varying length"

// MaxClasses bounds the distinct values of a label, and MaxClassText their total bytes: a column of more is an
// identifier or a text, and no class.
const (
	MaxClasses   = 1 << 16
	MaxClassText = 64 * MaxClasses
)

// File is one opened file: groups (Parquet row groups, Arrow record batches) of leaves. Its methods may be called
// from many goroutines.
type File interface {
	Leaves() []Leaf
	GroupRows() []int64 // rows of each group, in order
	// Open prepares group g for decoding the given leaves.
	Open(ctx context.Context, g int, leaves []int) (Group, error)
	// HeldBytes is the memory of the open file (its parsed footer), without decoding.
	HeldBytes() int64
	// FooterDigest changes if a file has changed since it was opened before.
	FooterDigest() uint64
	Close() error
}

// GroupStart returns the first row of group g within its file. It sums all groups before it, so use it for messages
// only: called for each of a million groups it took three quarters of a pass.
func GroupStart(f File, g int) (start int64) {
	for _, rows := range f.GroupRows()[:g] {
		start += rows
	}
	return start
}

// Group decodes columns of one row group. Its methods may be called from many goroutines at once, for different
// leaves or row ranges.
//
// Errors are *stream.DataError with the place filled in as far as it is known (rows counted within the file); a panic
// of the decoding library never escapes.
type Group interface {
	// Decode writes rows [from, to) of the group's leaf l (width ≥ 1): element e of row r goes to dst[e][r-from];
	// dst[e] == nil means the element is not wanted. A null is written as Null; the file's own NaN and ±Inf are
	// passed on unchanged.
	Decode(ctx context.Context, l int, from, to int64, dst [][]float64) error
	// DecodeLists reads rows [from, to) of a list leaf of any lengths into dst, reusing its memory. A null list is an
	// empty one with its row flagged in dst.Null; a null element is Null. For a map with Entries it reads the values.
	DecodeLists(ctx context.Context, l int, from, to int64, dst *Lists) error
	// DecodeKeys reads the keys of a map with Entries like DecodeLists.
	DecodeKeys(ctx context.Context, l int, from, to int64, dst *Lists) error
	// DecodeTexts reads rows [from, to) of leaf l, whose NoClass is empty, as text: it calls emit for some rows at a
	// time, in order, with the number of each row's value in values, or -1 for a null. Both are lent until emit
	// returns.
	DecodeTexts(ctx context.Context, l int, from, to int64, emit func(ids []int32, values *text.List) error) error
	Close()
}

// Lists holds the values of consecutive list rows: row i has Values[Ptr[i]:Ptr[i+1]].
type Lists struct {
	Ptr    []int
	Values []float64
	Null   []bool
}

// Null is the mark of a null, so that nulls and NaNs are counted apart.
var Null = math.Float64frombits(stream.NullBits)

// TextKeyed is a Group that reads the keys of a map with TextKeys like DecodeLists, each as the number that the
// callback returns for its text. The text is lent.
type TextKeyed interface {
	DecodeTextKeys(ctx context.Context, l int, from, to int64, number func(key []byte) float64, dst *Lists) error
}

// WhyNoEntries returns the reason why a map of such types cannot be sparse rows; empty if it can.
func WhyNoEntries(key, value, whyNoValue string) string {
	if whyNoValue == "" && (strings.HasPrefix(key, "int") || strings.HasPrefix(key, "uint")) {
		return ""
	}
	return fmt.Sprintf("a map of %s to %s, not of integers to numbers", key, value)
}

// IsNull distinguishes the mark of a null from the file's own NaN.
func IsNull(x float64) bool { return math.Float64bits(x) == stream.NullBits }

// Resize returns n elements of any value, in the memory of old if it is large enough.
func Resize[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	return old[:n]
}
