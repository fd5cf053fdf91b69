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
	// Columns are the selected features by flattened name, in the order of the output: for example "x", "geo.lat",
	// "emb[3]" or a partition key.
	Columns    []string
	allColumns bool          // write every column of the input, in its order; set by Convert
	direct     *directOutput // set by Convert
	// Also names further columns of any type by flattened name; they are written after Columns. A whole list or struct
	// is written under its own name. A name in both Columns and Also is written once.
	Also   []string
	Form   Form   // the format of the output files
	Where  string // like Options.Where: only rows that match it are written
	Sparse string // like Options.Sparse: a selected feature such as "values[17]" becomes a dense column
	Union  bool   // like Options.Union; a file in an output folder has only the columns of its input
	// Times and Indicators must be equal to Options.Times and Options.Indicators at the time when the features were
	// selected. If a derived feature is selected, the column from which it is derived is written, once.
	Times, Indicators bool
	Categories        []Category
	Threads           int   // columns copied at once; 0 means GOMAXPROCS
	Memory            int64 // bytes that copying may hold; 0 means 1 GiB
	Meter             *stream.Meter

	Maker        string        // the release of the program: output finished by another release is written again
	markInterval time.Duration // time between marks, from which a later run resumes; 0 means maxMarkInterval

	TableVersion *int64 // this field and the fields below are as in Options
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
	Files   int      // files of the output
	Columns []string // columns of the output, in order
	Rows    int64
	Bytes   int64
	Resumed Resumed

	// Warnings name oddities of the input and guesses about its files. They also name files of other users at the
	// paths that Apply uses for interrupted runs; Apply leaves such files alone.
	Warnings []stream.Text
}

// Apply writes the chosen columns and rows of the inputs to out, in the format opt.Form; Parquet is compressed with
// zstd. Types, logical types, nullability and the bits of values stay the same; rows and row groups keep their order. A
// struct field or list element becomes a top-level column with its flattened name.
//
// All rows are written to the single file out if the input is one file, or if out has the ending of a Form and is not
// an existing folder. Otherwise out is a new folder, in which each input file becomes one file at the same relative
// path. Apply refuses an output that the same inputs would include the next time (see Dataset.NotInput). The output
// appears whole or not at all. A partition key that is not in the path of the output file is written as a column.
//
// If a run is killed, or if ctx ends or Memory is too low (with the error [Unfinished]), the finished part of the
// output stays in a hidden folder next to out. It consists of files if out is a folder, else of row groups; an Arrow or
// CSV file is made from its row groups when all are finished. The next Apply to out reuses every part that it would
// write the same way, and out has the same bytes in the end. A single Arrow or CSV file starts again if Memory is lower
// than in the interrupted run, or if Spool.Dir is set. An output that is one object in a store always starts again. If
// out is a folder in a store, its finished files stay in it, and the object _ufs_finished lists them until the object
// _SUCCESS is written. The next Apply, on any machine, reuses the listed files whose size and version have not changed.
// It takes over the folder: an earlier run that is still alive ends with an error. Apply refuses the folder if it
// contains an object that is not listed, and whose name is not the name of an output file.
//
// If opt.Where is set, an input file gets no output file if the condition excludes it by its partition keys. The output
// of every other input file contains only the matching rows, even if no row matches.
//
// Apply holds the encoded columns of one row group in memory, or a part of these columns if Memory is short. List
// elements that are written at the same time share one reading of their list.
func Apply(ctx context.Context, inputs []string, out string, opt ApplyOptions) (ApplyReport, error) {
	opt = opt.withDefaults()
	if err := checkNullSpellings(opt.Texts); err != nil {
		return ApplyReport{}, err
	}
	access := opt.newInputAccess()
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
		err = a.writeSingleFile(ctx, out)
	} else {
		err = a.writeFolder(ctx, layout, out)
	}
	if err != nil {
		return ApplyReport{}, err
	}
	return a.report, nil
}

func (o ApplyOptions) newInputAccess() *access {
	a := newAccess(Options{Threads: o.Threads, Note: o.Note, Meter: o.Meter, Anonymous: o.Anonymous, Allow: o.Allow, Texts: o.Texts, Memory: o.Memory, TableVersion: o.TableVersion, TableAsOf: o.TableAsOf, Spool: o.Spool, Sparse: o.Sparse, Stdin: o.Stdin})
	a.exactIntegers, a.acceptsText = true, o.allColumns
	return a
}

func (a *access) newApplier(ctx context.Context, inputs []string, opt ApplyOptions) (*applier, error) {
	filter, err := newFilter(opt.Where)
	if err != nil {
		return nil, err
	}
	c, err := a.openCatalogForApply(ctx, inputs, filter, opt)
	if err != nil {
		return nil, err
	}
	sparse, err := findSparse(ctx, c, nil, Options{Sparse: opt.Sparse, Memory: opt.Memory, Spool: opt.Spool}.withDefaults())
	if err != nil {
		return nil, err
	}
	if err := filter.checkColumnsDecodable(c, sparse); err != nil {
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
		to.columns, err = to.chooseAllColumns(ctx)
	} else {
		to.columns, err = to.chooseColumns()
	}
	if err != nil {
		return nil, err
	}
	return to, nil
}

func (a *access) openCatalogForApply(ctx context.Context, inputs []string, f *filter, opt ApplyOptions) (*catalog, error) {
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
	footerBytes int64        // memory for the schema and the footer of the output while the output is written
	folderBytes int64        // memory for the file names of an output folder
	growing     *growingFile // the one output file, if a later run can resume it; else nil
}

// heldBytes returns the memory in use throughout the writing of a file: for the catalog, the names of the files in an
// output folder, and the state of the compressor.
func (a *applier) heldBytes() int64 {
	return a.catalog.memoryBytes() + a.folderBytes + a.opt.Form.encoderBytes()
}
