package dataset

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/pipeline"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/plans"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Dataset is the table that a set of files, or a stream, contains under some options. It is a stream.Source. Between
// passes it has no open files. It holds the catalog of the footers and, until Close, the buffers of the last pass and
// the scratch files with the rows of text, arrays, Avro and triples. Its methods may be called from several goroutines,
// but each pass of Chunks uses up to Options.Memory for itself.
type Dataset struct {
	passes
	table     *pipeline.Table // implements passes
	ownAccess *opening.Access // opened by Open and closed by Close; nil in a Dataset made by With
}

// passes has the methods that a Dataset takes over from its table; [pipeline.Table] documents them.
type passes interface {
	stream.Source
	Categories(ctx context.Context, columns []string, limit int) ([]settings.Category, error)
	Check() error
	Classes() []string
	Fields() iter.Seq[schema.Field]
	Keeps(memory, limit int64) (groups, total int, bytes int64)
	LeftOut() []stream.LeftOut
	MemoryFor(memory int64) int64
	MinMemory() int64
	Positions() int
	Replayable() bool
	RowEntries() int64
	ScratchFor(memory int64) int64
	Singles() bool
	SpoolBytes() int64
	WithNulls() int
}

// TableOf returns the table that the passes of a Dataset read.
func TableOf(d *Dataset) *pipeline.Table { return d.table }

// OpenInputs implements chunkio.Open: it reads the footers of all inputs (see the package comment), one file at a time,
// and matches their columns by name.
func OpenInputs(ctx context.Context, inputs []string, opt settings.Options) (*Dataset, error) {
	opt = settings.WithDefaults(opt)
	if err := settings.Validate(opt); err != nil {
		return nil, err
	}
	f, err := catalog.NewFilter(opt.Where)
	if err != nil {
		return nil, err
	}
	a := opening.NewAccess(opt)
	t, err := openTableOfInputs(ctx, a, inputs, f)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return &Dataset{t, t, a}, nil
}

func openTableOfInputs(ctx context.Context, a *opening.Access, inputs []string, f *catalog.Filter) (*pipeline.Table, error) {
	opt := a.Options
	var list *listing.List
	var err error
	if opt.Plan != "" {
		var frozen *catalog.Catalog
		if frozen, list, err = plans.OpenPlan(ctx, a, f); err != nil {
			return nil, err
		}
		if frozen != nil {
			return pipeline.NewTable(ctx, frozen, nil, opt)
		}
	} else if list, err = listing.ExpandInputs(ctx, a, inputs); err != nil {
		return nil, err
	}
	if list.IsStdin() {
		c, once, err := catalog.OpenStdin(ctx, a, opt.Stdin, list, f, catalog.Options{Memory: opt.Memory, RecordsBytes: opt.ForPlan, Union: opt.Union, RecordsSpreads: opt.Spreads, IsUnused: a.IsUnused})
		if err != nil {
			return nil, err
		}
		if c != nil {
			return pipeline.NewTable(ctx, c, nil, opt)
		}
		pipe, err := pipeline.OpenPipe(once, opt.Memory, opt.Classes || opt.Times || opt.Categories != nil)
		if err != nil {
			return nil, err
		}
		leaves, _ := naming.NameLeaves(pipe.Leaves())
		if err := f.BindStream(leaves); err != nil {
			return nil, err
		}
		return pipeline.NewTable(ctx, &catalog.Catalog{Leaves: leaves, FirstRefusal: map[int]string{}, Rows: -1, List: list, Filter: f}, pipe, opt)
	}
	if list, err = f.PruneFiles(list); err != nil {
		return nil, err
	}
	c, err := catalog.BuildCatalog(ctx, a, list, f, catalog.Options{Memory: opt.Memory, SkipBad: opt.SkipBad, RecordsBytes: opt.ForPlan, Union: opt.Union, RecordsSpreads: opt.Spreads, IsUnused: a.IsUnused})
	if err != nil {
		return nil, err
	}
	return pipeline.NewTable(ctx, c, nil, opt)
}

// With returns a Dataset of the same files under other options, without reading the footers again. Options.SkipBad,
// Options.Where and Options.Stdin keep their values from Open. If the input is a stream, both Datasets share its one
// pass. Closing the new Dataset leaves d open. If the files are files of rows, the new Dataset cannot be read any more
// once d is closed.
func (d *Dataset) With(opt settings.Options) (*Dataset, error) {
	opt = settings.WithDefaults(opt)
	opt.Where = d.table.Options.Where
	if err := settings.Validate(opt); err != nil {
		return nil, err
	}
	t, err := pipeline.WithOptions(d.table, opt)
	if err != nil {
		return nil, err
	}
	return NewDataset(t), nil
}

// NewDataset returns a Dataset that reads the table t, whose files another Dataset has opened and closes.
func NewDataset(t *pipeline.Table) *Dataset { return &Dataset{passes: t, table: t} }

// Inputs describes the files, in the order of their rows. For a stream, the numbers of rows and bytes and the
// fingerprint, a digest of the bytes, cover the part read so far.
func (d *Dataset) Inputs() []stream.Input {
	if d.table.Pipe != nil {
		return []stream.Input{d.table.Pipe.DescribeInput()}
	}
	inputs := make([]stream.Input, len(d.table.Catalog.Files))
	for i := range inputs {
		f := &d.table.Catalog.Files[i]
		inputs[i] = stream.Input{Path: d.table.Catalog.FileName(i), Rows: f.CountRows(), Bytes: f.Size, Fingerprint: storage.FormatFingerprint(f.Fingerprint)}
	}
	return inputs
}

// Table returns the table to which the files belong, or nil for bare files.
func (d *Dataset) Table() *stream.Table { return d.table.Catalog.List.Table }

// HasLosses reports, with Options.TableSince, whether the table has lost rows since that version.
func (d *Dataset) HasLosses() bool { return d.table.Catalog.List.Losses > 0 }

// Paths lists the paths and URLs of the files, as Open accepts them, in the order of their rows.
func (d *Dataset) Paths() []string { return d.table.Catalog.List.Paths() }

// Warnings lists oddities that are not errors. The command replaces the names of options in them by its own.
func (d *Dataset) Warnings() []stream.Text {
	return slices.Concat(d.FileWarnings(), d.table.Features.Warnings)
}

// FileWarnings lists the Warnings about files, which do not depend on the use of the columns.
func (d *Dataset) FileWarnings() []stream.Text {
	return slices.Concat(d.table.Catalog.Warnings, d.table.Catalog.Texts.CurrentGuesses().Doubts)
}

// CatalogBytes returns the memory of the data from the footers of all files, which is held while the Dataset is open.
func (d *Dataset) CatalogBytes() int64 { return d.table.Catalog.MemoryBytes() }

// Close frees the buffers of the last pass, and the columns held by Options.Keep; a further pass makes new buffers. If
// d is from Open, Close also removes the scratch files of rows, which then cannot be read again; scratch files of
// standard input stay if Options.Stdin is a *Stdin. It must not be called during a pass.
func (d *Dataset) Close() error {
	pipeline.DropBuffers(d.table)
	if d.ownAccess == nil {
		return nil
	}
	return d.ownAccess.Close()
}

var _ stream.Source = (*Dataset)(nil)

// NotInput refuses an output that would replace a file of the dataset, a list that names such files, or a file in the
// parameter others, which contains further files that contribute to the output. It also refuses an output that the
// inputs of the dataset would include the next time. The error is a *stream.UsageError.
func (d *Dataset) NotInput(ctx context.Context, out string, others ...string) error {
	return d.table.Catalog.List.RefuseAsOutput(ctx, out, d.table.Options.Stdin, others)
}

// Part identifies the plan file, and the shard of it, that the Dataset reads. It is nil if there is no plan.
func (d *Dataset) Part() *stream.Part { return d.table.Catalog.Part() }

// SparseColumns returns the value of Options.Sparse, with the number of features at its end even if the option lacks
// it, such as "x,500". It is "" for dense rows.
func (d *Dataset) SparseColumns() string { return d.table.Sparse.OptionText(d.table.Catalog.Leaves) }

// ShardRows returns the rows of the shard that the Dataset reads, and the position of the first row of its Inputs,
// which are only the files of the shard. The zero Range means all rows.
func (d *Dataset) ShardRows() (rows stream.Range, first int64) {
	return d.table.Catalog.ShardRows()
}

// WritePlan writes a plan file of the Dataset, which must be opened with ForPlan or from a plan, to path. The file
// appears whole or not at all. WritePlan uses Version, Method and Options of h, and returns h with all other fields
// set. A plan contains the condition, but not the choice of features, which is made when the plan is opened.
func (d *Dataset) WritePlan(ctx context.Context, path string, h plans.PlanHeader) (plans.PlanHeader, error) {
	return plans.WritePlan(ctx, d.table.Catalog, d.table.Options.ForPlan, path, h)
}

// RowsMemory returns the most bytes of memory held while files of rows were converted to scratch files at opening, and
// the least bytes that would have sufficed. Both are 0 if there were no such files.
func (d *Dataset) RowsMemory() (held, least int64) {
	return d.table.Catalog.Texts.ConversionMemory()
}

// Guesses returns the guesses about the text files opened so far: about headers and missing values.
func (d *Dataset) Guesses() opening.Guesses {
	return d.table.Catalog.Texts.GuessesWith(d.table.Options.Texts.Nulls)
}

// RowsScratch returns the bytes of the scratch files with the rows of text, arrays, Avro and triples.
func (d *Dataset) RowsScratch() int64 {
	return d.table.Catalog.Texts.ScratchBytes()
}
