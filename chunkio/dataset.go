package chunkio

import (
	"context"
	"io"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/cache"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
)

type (
	// Options choose the rows and columns to deliver, and how.
	Options = settings.Options
	// TextOptions override the guesses about inputs that are text.
	TextOptions = settings.TextOptions
	// Dataset is the table that a set of files, or a stream, contains under some options.
	Dataset = dataset.Dataset
	// Category contains the values of a column of categories as text, in the order of their bytes.
	Category = settings.Category
	// RowScale multiplies the features of a row by factors and divides the row by its Euclidean norm.
	RowScale = settings.RowScale
	// Shard is one of the parts into which the rows of a plan are divided.
	Shard = settings.Shard
	// Field describes one column of the input, feature or not, for the command inspect.
	Field = schema.Field
	// Guesses describes guesses about the meaning of text files, for which no option was set.
	Guesses = opening.Guesses
	// Keep holds decoded row groups, so that later passes over the same files need not read and decode them.
	Keep = cache.Keep
	// State identifies the contents of the files of an input.
	State = dataset.State
	// Input reads the bytes of a local file or of an object in a store.
	Input = storage.Input
	// Stdin is standard input that may be opened several times until Close.
	Stdin = opening.Stdin
)

// Open reads the footers of all inputs (see the package comment), one file at a time, and matches their columns by
// name. It fails on inputs that cannot be read or do not fit together, and on options that do not fit the inputs. If
// there are no features or no rows, Open succeeds, so that any input can be inspected, and Check and Chunks fail.
func Open(ctx context.Context, inputs []string, opt Options) (*Dataset, error) {
	return dataset.OpenInputs(ctx, inputs, opt)
}

// ErrNoState reports an input whose contents cannot be identified without reading them.
var ErrNoState = opening.ErrNoVersion

// FindState identifies the contents of inputs by the names, sizes and versions of their files, without reading the
// files. Of local files the time of the last change counts as the version. The condition of the options excludes files
// by their partition keys.
func FindState(ctx context.Context, inputs []string, opt Options) (State, error) {
	return dataset.FindState(ctx, inputs, opt)
}

// NewKeep returns an empty Keep of at most limit bytes.
func NewKeep(limit int64) *Keep {
	return cache.NewKeep(limit)
}

// NewStdin returns a Stdin that reads r. It returns r itself if r is a *Stdin, because a caller may have set
// Options.Stdin to a Stdin of its own.
func NewStdin(r io.Reader) *Stdin {
	return opening.NewStdin(r)
}

// DefaultSparse returns the default of Options.Sparse for inputs. It is empty unless one of them is text with sparse
// rows (libsvm, Matrix Market) by its name, or the first local file is such text by its first bytes: of a folder or of
// a list (@list), or standard input if stdin is a *Stdin. If acceptsMaps is set, the default may also be the name of a
// map in NDJSON: if the first input is a local file or a folder, and its first file has one map whose keys are
// identifiers, and no other columns that can be features.
func DefaultSparse(ctx context.Context, inputs []string, stdin io.Reader, acceptsMaps bool) string {
	return listing.DefaultSparse(ctx, inputs, stdin, acceptsMaps)
}
