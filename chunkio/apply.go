package chunkio

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ApplyOptions choose the columns and rows that Apply writes, and the form of its output.
type ApplyOptions struct {
	// Columns are the selected features by flattened name, in the order of the output:
	// "x", "geo.lat", "emb[3]", a partition key.
	Columns    []string
	allColumns bool          // every column of the input, in its order, in place of Columns: for Convert
	direct     *directOutput // for Convert
	// Also names further columns of any type, written after the selected ones, by flattened name; a whole list or
	// struct has its own name. A name in both Columns and Also is written once.
	Also   []string
	Form   Form   // the format of the output files
	Where  string // as Options.Where: only rows that match it are written
	Sparse string // as Options.Sparse: selected features "values[17]" are written dense
	Union  bool   // as Options.Union: in a folder each file keeps only its own columns; one output file has nulls
	// Times and Indicators are the Options with which the selection was made. For a derived feature, the column from
	// which it is derived is written once.
	Times, Indicators bool
	Categories        []Category
	Threads           int   // columns copied at once; 0 means GOMAXPROCS
	Memory            int64 // bytes that copying may hold; 0 means 1 GiB
	Meter             *stream.Meter

	Maker        string        // the release of the program: output finished by another release is written again
	markInterval time.Duration // time between the marks of one output file; 0 means markEvery

	TableVersion *int64 // as in Options, like the fields below
	TableAsOf    time.Time
	Anonymous    bool
	Allow        []string
	Texts        TextOptions
	Spool        scratch.Options
	Stdin        io.Reader
	Note         func(stream.Text)
}

// ApplyReport describes the output of Apply.
type ApplyReport struct {
	Files   int      // in the output
	Columns []string // of the output, in order
	Rows    int64
	Bytes   int64
	Resumed Resumed

	// Warnings name oddities of the input, guesses about its files, and files of other users at paths reserved for
	// finished files of interrupted runs.
	Warnings []stream.Text
}

// Apply writes the input's rows reduced to some columns to out, as Parquet with zstd or in opt.Form. Types, logical
// types, nullability and values stay the same to the bit; rows and row groups keep their order. Struct fields and list
// elements become flat columns of their flattened names.
//
// Directories and several files are written to the new folder out in their own layout; but all rows go to the one file
// out if its ending names a form and there is no folder of that name, or if the input is one file. An output that the
// inputs would include the next time is refused, as for all results (Dataset.NotInput). Either appears whole or not at
// all. A partition key that the layout does not keep in the path is written as a column.
//
// If a run is killed, or ctx ends or Memory is too low (the error is then [Unfinished]), its finished part stays in a
// hidden folder next to out: the files of a folder, or the row groups of one file; an Arrow or CSV file is made from
// its row groups when all of them are finished. The next Apply to out reuses all parts that it would write the same,
// and out has the same bytes in the end. One Arrow or CSV file starts again with another Memory, and if Spool.Dir
// stores its rows elsewhere; an output that is one object in a store always starts again. The finished files of a
// folder in a store stay in it, listed by the object _ufs_finished until _SUCCESS is put: the next Apply, on any
// machine, reuses the files that have the size and the version of their upload. It takes over the folder, and an
// earlier run still alive ends with an error. A folder with an object that is neither listed nor to be written is
// refused.
//
// With a condition, files excluded by their partition keys are not written. Of the other files, only the rows that
// match the condition are written, even if no row matches.
//
// Apply holds the encoded columns of a row group, fewer at a time if Memory is short. It reads a leaf column once for
// all list elements that are written at the same time.
func Apply(ctx context.Context, inputs []string, out string, opt ApplyOptions) (ApplyReport, error) {
	opt = opt.withDefaults()
	if err := checkNullSpellings(opt.Texts); err != nil {
		return ApplyReport{}, err
	}
	access := opt.inputAccess()
	defer access.close()
	a, err := access.newApplier(ctx, inputs, opt)
	if err != nil {
		return ApplyReport{}, err
	}
	if d := access.direct; d != nil && d.written != nil {
		err = d.commitOutput(&a.report)
		return a.report, err
	}
	layout, err := access.chooseLayout(ctx, inputs, a.catalog.list, out, opt.Form)
	if err != nil {
		return ApplyReport{}, err
	}
	defer a.matchRows(ctx)()
	if layout.single {
		err = a.writeOne(ctx, out)
	} else {
		err = a.writeFolder(ctx, layout, out)
	}
	if err != nil {
		return ApplyReport{}, err
	}
	return a.report, nil
}

func (o ApplyOptions) inputAccess() *access {
	a := newAccess(Options{Threads: o.Threads, Note: o.Note, Meter: o.Meter, Anonymous: o.Anonymous, Allow: o.Allow, Texts: o.Texts, Memory: o.Memory, TableVersion: o.TableVersion, TableAsOf: o.TableAsOf, Spool: o.Spool, Sparse: o.Sparse, Stdin: o.Stdin})
	a.exactIntegers, a.acceptsText = true, o.allColumns
	return a
}

func (a *access) newApplier(ctx context.Context, inputs []string, opt ApplyOptions) (*applier, error) {
	filter, err := newFilter(opt.Where)
	if err != nil {
		return nil, err
	}
	c, err := a.openAll(ctx, inputs, filter, opt)
	if err != nil {
		return nil, err
	}
	sparse, err := findSparse(ctx, c, nil, Options{Sparse: opt.Sparse, Memory: opt.Memory, Spool: opt.Spool}.withDefaults())
	if err != nil {
		return nil, err
	}
	if err := filter.checkDecodable(c, sparse); err != nil {
		return nil, err
	}
	to := &applier{catalog: c, sparse: sparse, opt: opt, spool: scratch.New(opt.Spool), report: ApplyReport{Warnings: slices.Concat(c.warnings, a.texts.currentGuesses().Doubts)}}
	leaves := len(opt.Columns) + len(opt.Also)
	if opt.allColumns {
		leaves = len(c.leaves)
	}
	if err := to.checkColumnsFit(leaves); err != nil {
		return nil, err
	}
	if opt.allColumns {
		to.columns, err = to.chooseAll(ctx)
	} else {
		to.columns, err = to.chooseColumns()
	}
	if err != nil {
		return nil, err
	}
	return to, nil
}

func (a *access) openAll(ctx context.Context, inputs []string, f *filter, opt ApplyOptions) (*catalog, error) {
	list, err := a.expandInputs(ctx, inputs)
	if err != nil {
		return nil, err
	}
	if a.direct, err = a.useDirectOutput(ctx, inputs, list, opt); err != nil {
		return nil, err
	}
	catalogOpt := catalogOptions{memory: opt.Memory, union: opt.Union}
	if list.isStdin() {
		c, _, err := a.openStdin(ctx, opt.Stdin, list, f, catalogOpt)
		return c, err
	}
	if list, err = f.pruneFiles(list); err != nil {
		return nil, err
	}
	return a.buildCatalog(ctx, list, f, catalogOpt)
}

func (o ApplyOptions) withDefaults() ApplyOptions {
	defaults := Options{Threads: o.Threads, Memory: o.Memory, Meter: o.Meter, Spool: o.Spool}.withDefaults()
	o.Threads, o.Memory, o.Meter, o.Spool = defaults.Threads, defaults.Memory, defaults.Meter, defaults.Spool
	return o
}

// applier is the state of one run of Apply.
type applier struct {
	catalog     *catalog
	sparse      *sparseSpec
	opt         ApplyOptions
	columns     []copier.Column
	spool       *scratch.Space // stores bytes fetched from objects
	report      ApplyReport
	matches     *rowMatches  // the rows to write; nil for all
	footerBytes int64        // bytes of the output's schema and footer in memory while it is written
	folderBytes int64        // bytes of the names of the files of a folder
	growing     *growingFile // the one output file, if a later run can resume it; else nil
}

// heldBytes returns the memory held for all files, and to compress the output.
func (a *applier) heldBytes() int64 {
	return a.catalog.memoryBytes() + a.folderBytes + a.opt.Form.encoderBytes()
}
