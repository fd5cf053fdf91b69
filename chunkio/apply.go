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

// ApplyOptions says what Apply writes.
type ApplyOptions struct {
	// Columns are the selected features by flattened name, in the order of the output:
	// "x", "geo.lat", "emb[3]", a partition key.
	Columns []string
	all     bool    // every column of the input, in its order, in place of these: Convert
	direct  *direct // of Convert
	// Also are further columns of any type, behind the selected ones: a flattened name,
	// or a whole list or struct by its own. A name that is in both is written once.
	Also   []string
	Form   Form   // of the files
	Where  string // as Options.Where: only such rows are written
	Sparse string // as Options.Sparse: selected features "values[17]" are written dense
	Union  bool   // as Options.Union: a file of a folder keeps lacking what it lacks, one file has nulls
	// Times and Indicators are as in Options, of which the selection was made: of what is made of
	// a column the column itself is written, once.
	Times, Indicators bool
	Categories        []Category
	Threads           int   // columns copied at once; 0 means GOMAXPROCS
	Memory            int64 // bytes that copying may hold; 0 means 1 GiB
	Meter             *stream.Meter

	Maker string        // the release that writes: what another has left is written again
	marks time.Duration // between the marks of one output file; 0 means some seconds

	TableVersion *int64 // as in Options, and so are those below
	TableAsOf    time.Time
	Anonymous    bool
	Allow        []string
	Texts        TextOptions
	Spool        scratch.Options
	Stdin        io.Reader
	Note         func(stream.Text)
}

// ApplyReport says what Apply wrote.
type ApplyReport struct {
	Files   int      // in the output
	Columns []string // of the output, in order
	Rows    int64
	Bytes   int64
	Resumed Resumed

	// Warnings name oddities of the input, guesses about its files among them, and files of other users at
	// the places where interrupted runs leave finished files.
	Warnings []stream.Text
}

// Apply writes the input's rows reduced to some columns to out, as Parquet with zstd or
// as opt.Form says.
// Types, logical types, nullability and values stay the same to the bit; rows and row
// groups keep their order. Struct fields and list elements become flat
// columns of their flattened names.
//
// Directories and several files are written to the new folder out in their own layout, but where out's ending
// names a form and no folder is there; that, and one file, becomes the one file out. An output that the inputs would take in the next time is refused, as of all
// results (Dataset.NotInput). Either appears whole or not at all. A partition key that the layout
// does not keep in the path is written as a column.
//
// Where a run is killed, or ctx ends or Memory is too low (the error is then [Unfinished]), what it
// has finished waits in a hidden folder beside out: the files of a folder, and of one file its row
// groups, which those of Arrow or CSV are made of when all are there. The next Apply to out takes of
// it what it would write the same, and out has the same bytes in the end. One Arrow or CSV file
// begins anew with another Memory and where Spool.Dir says that its rows wait elsewhere, and one
// object in a store always does. The finished files of a folder in a store wait in it, listed by the
// object _ufs_finished until _SUCCESS is put: the next Apply, on whichever machine, takes those that
// have the size and the version of their upload. It takes over the folder, and an earlier one that
// lives ends with an error. A folder with an object that is neither listed nor to be written is
// refused.
//
// Under a condition, files whose partition keys decide against them are not there; of
// the others those rows are written for which it is true, even if these are none.
//
// It holds the encoded columns of a row group, fewer at a time where Memory is
// short, and reads each leaf column once for all of a list's elements that are open.
func Apply(ctx context.Context, inputs []string, out string, opt ApplyOptions) (ApplyReport, error) {
	opt = opt.withDefaults()
	if err := checkNullSpellings(opt.Texts); err != nil {
		return ApplyReport{}, err
	}
	access := opt.access()
	defer access.closeTexts()
	a, err := access.prepare(ctx, inputs, opt)
	if err != nil {
		return ApplyReport{}, err
	}
	if d := access.direct; d != nil && d.rows != nil {
		err = d.commit(&a.report)
		return a.report, err
	}
	layout, err := access.arrange(ctx, inputs, a.catalog.list, out, opt.Form)
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

// access finds and opens the inputs, to copy them.
func (o ApplyOptions) access() *access {
	a := newAccess(Options{Threads: o.Threads, Note: o.Note, Meter: o.Meter, Anonymous: o.Anonymous, Allow: o.Allow, Texts: o.Texts, Memory: o.Memory, TableVersion: o.TableVersion, TableAsOf: o.TableAsOf, Spool: o.Spool, Sparse: o.Sparse, Stdin: o.Stdin})
	a.exactIntegers, a.acceptsText = true, o.all
	return a
}

// prepare reads the footers of the inputs and resolves the names of the options.
func (a *access) prepare(ctx context.Context, inputs []string, opt ApplyOptions) (*applier, error) {
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
	if opt.all {
		leaves = len(c.leaves)
	}
	if err := to.columnsFit(leaves); err != nil {
		return nil, err
	}
	if opt.all {
		to.columns, err = to.chooseAll(ctx)
	} else {
		to.columns, err = to.choose()
	}
	if err != nil {
		return nil, err
	}
	return to, nil
}

// openAll finds and opens all inputs, or standard input.
func (a *access) openAll(ctx context.Context, inputs []string, f *filter, opt ApplyOptions) (*catalog, error) {
	list, err := a.expandInputs(ctx, inputs)
	if err != nil {
		return nil, err
	}
	if a.direct, err = a.directly(ctx, inputs, list, opt); err != nil {
		return nil, err
	}
	how := catalogOptions{memory: opt.Memory, union: opt.Union}
	if list.isStdin() {
		c, _, err := a.openStdin(ctx, opt.Stdin, list, f, how)
		return c, err
	}
	if list, err = f.pruneFiles(list); err != nil {
		return nil, err
	}
	return a.buildCatalog(ctx, list, f, how)
}

func (o ApplyOptions) withDefaults() ApplyOptions {
	defaults := Options{Threads: o.Threads, Memory: o.Memory, Meter: o.Meter, Spool: o.Spool}.withDefaults()
	o.Threads, o.Memory, o.Meter, o.Spool = defaults.Threads, defaults.Memory, defaults.Meter, defaults.Spool
	return o
}

// applier is one run of Apply.
type applier struct {
	catalog *catalog
	sparse  *sparseSpec
	opt     ApplyOptions
	columns []copier.Column
	spool   *scratch.Space // where what is read of objects waits
	report  ApplyReport
	matches *matches // the rows to write; nil for all
	output  int64    // bytes that the output's schema and footer take while it is written
	folder  int64    // and the names of the files of a folder
	growing *growing // the one output file, where a later run can go on with it; else nil
}

// heldBytes is what is in memory for all files, and what packs the output.
func (a *applier) heldBytes() int64 {
	return a.catalog.memoryBytes() + a.folder + a.opt.Form.encoderBytes()
}
