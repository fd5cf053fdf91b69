// Package formats lists the formats of input files. All other packages ask this list which formats there are, how a
// file of a format is recognized, and how it is read. A new format is a package of its own and a line of the list.
package formats

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/mtx"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Format describes a format of files. A file is read in the way for which a function or a kind is set: Open, Rows or
// Parse.
type Format struct {
	Name    string   // in messages, such as "Parquet"
	Endings []string // of file names, in lower case, without the ending of a compression
	Magic   string   // the word at the beginning and at the end of a file that has a footer; empty for other formats
	Begins  string   // the first bytes of every file of the format; empty if they do not show it
	IsLines bool     // text in lines: an empty file is a table without rows

	// Open opens a file whose columns can be read one by one, using at most memory bytes.
	Open func(in format.Input, memory int64) (format.File, error)
	// Rows is the kind of a table of rows, which is converted to Parquet in a scratch file.
	Rows intake.Format
	// Parse reads the text of a matrix with sparse rows to its end, using at most memory bytes, and writes the rows to
	// a scratch file.
	Parse func(ctx context.Context, name string, text io.Reader, to svm.Spool, memory int64) (*svm.Table, error)

	DuckDB bool // DuckDB reads such files without an extension
}

// knownFormats lists all formats of input files.
var knownFormats = []*Format{
	{Name: "Parquet", Endings: []string{".parquet"}, Magic: parquet.Magic, Open: returnFileInterface(parquet.Open), DuckDB: true},
	{Name: "Parquet", Begins: parquet.EncryptedMagic, Open: returnFileInterface(parquet.Open)}, // fails with the error for encrypted files
	{Name: "Arrow", Endings: []string{".arrow", ".feather", ".ipc"}, Magic: ipc.Magic, Open: returnFileInterface(ipc.Open)},
	{Name: "Arrow", Endings: []string{".arrows"}, Begins: ipc.StreamMagic, Open: returnFileInterface(ipc.OpenStream)},
	{Name: "CSV", Endings: []string{".csv"}, Rows: intake.CSV, IsLines: true, DuckDB: true},
	{Name: "CSV", Endings: []string{".tsv", ".tab"}, Rows: intake.TSV, IsLines: true, DuckDB: true},
	{Name: "NDJSON", Endings: []string{".jsonl", ".ndjson"}, Rows: intake.NDJSON, IsLines: true, DuckDB: true},
	{Name: "NumPy arrays", Endings: []string{".npy"}, Begins: intake.NPYMagic, Rows: intake.NPY},
	{Name: "Avro", Endings: []string{".avro"}, Begins: intake.AvroMagic, Rows: intake.Avro},
	{Name: "libsvm", Endings: []string{".svm", ".libsvm"}, Parse: svm.ParseRows},
	{Name: "Matrix Market", Endings: []string{".mtx"}, Begins: mtx.Magic, Parse: mtx.ParseMatrix},
}

func returnFileInterface[F format.File](open func(format.Input, int64) (F, error)) func(format.Input, int64) (format.File, error) {
	return func(in format.Input, memory int64) (format.File, error) {
		f, err := open(in, memory)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
}

// AllFormats returns the formats.
func AllFormats() []*Format { return knownFormats }

// IsText reports whether files of the format are read from beginning to end, and so may be compressed as a whole.
func (f *Format) IsText() bool { return f.Open == nil }

// IsSparse reports whether files of the format have sparse rows, in a map with the name [svm.Entries].
func (f *Format) IsSparse() bool { return f.Parse != nil }

func findFirstFormat(matches func(*Format) bool) *Format {
	if i := slices.IndexFunc(knownFormats, matches); i >= 0 {
		return knownFormats[i]
	}
	return nil
}

// ByName returns the format that the ending of a file name shows, or nil.
func ByName(file string) *Format {
	ending, packed := intake.FileEnding(file)
	return findFirstFormat(func(f *Format) bool { return slices.Contains(f.Endings, ending) && (f.IsText() || !packed) })
}

// ByMagic returns the format of files that begin and end with this magic word, or nil.
func ByMagic(word string) *Format {
	return findFirstFormat(func(f *Format) bool { return word != "" && f.Magic == word })
}

// ByBytes returns the format that the first bytes of a file prove, or nil.
func ByBytes(head string) *Format {
	return findFirstFormat(func(f *Format) bool {
		return f.Magic != "" && strings.HasPrefix(head, f.Magic) || f.Begins != "" && strings.HasPrefix(head, f.Begins)
	})
}

// OfRows returns the Format whose field Rows is kind, or nil for [intake.None].
func OfRows(kind intake.Format) *Format {
	return findFirstFormat(func(f *Format) bool { return kind != intake.None && f.Rows == kind })
}

// ListEndings returns the endings of file names of the formats that satisfy a condition.
func ListEndings(satisfies func(*Format) bool) (endings []string) {
	for _, f := range knownFormats {
		if satisfies(f) {
			endings = append(endings, f.Endings...)
		}
	}
	return endings
}

// DetectFormat finds the format and the compression of an input that begins with head: by these bytes, by the format
// named that the ending of its name shows (or nil), or by more of its bytes. guess means that only the shape of its
// lines shows the format. DetectFormat returns nil if the format is unknown.
func DetectFormat(in format.Input, head string, named *Format) (f *Format, packing string, guess bool, err error) {
	packing = intake.SniffPacking([]byte(head))
	switch f = ByBytes(head); {
	case f != nil:
		return f, "", false, nil
	case named != nil && named.IsText():
		return named, packing, false, nil
	case ipc.IsStream(in, head): // an old one, which does not begin with the magic word
		return ByBytes(ipc.StreamMagic), "", false, nil
	}
	for _, n := range []int64{intake.RecognizeBytes, intake.RecognizeMost} {
		begin := make([]byte, min(in.Size(), n))
		if err := format.ReadAt(in, begin, 0); err != nil {
			return nil, packing, false, stream.Dataf(in.Name(), "%w", err)
		}
		packing = intake.SniffPacking(begin)
		text, whole := intake.UnpackHead(begin, packing, in.Size() <= n)
		if f = ByBytes(string(text)); f != nil && f.IsText() {
			return f, packing, false, nil
		}
		kind, more := intake.Recognize(text, whole)
		if kind != intake.None || !more || in.Size() <= n {
			return OfRows(kind), packing, kind != intake.None, nil
		}
	}
	return nil, packing, false, nil
}
