package copying

import (
	"context"
	"io"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/convert"
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
	Categories        []settings.Category
	Threads           int   // columns copied at once; 0 means GOMAXPROCS
	Memory            int64 // bytes that copying may hold; 0 means 1 GiB
	Meter             *stream.Meter

	Maker        string        // the release of the program: output finished by another release is written again
	markInterval time.Duration // time between marks, from which a later run resumes; 0 means maxMarkInterval

	Plan         string // this field and the fields below are as in Options
	TableVersion *int64
	TableAsOf    time.Time
	Anonymous    bool
	Allow        []string
	Texts        settings.TextOptions
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

// ApplyColumns implements chunkio.Apply: it writes columns of the inputs to a file or a folder.
func ApplyColumns(ctx context.Context, inputs []string, out string, opt ApplyOptions) (ApplyReport, error) {
	opt = opt.withDefaults()
	if err := settings.CheckNullSpellings(opt.Texts); err != nil {
		return ApplyReport{}, err
	}
	access := opt.newInputAccess()
	defer access.Close()
	p, err := newPlan(ctx, access, inputs, opt)
	if err != nil {
		return ApplyReport{}, err
	}
	a := &applier{plan: p, spool: scratch.New(opt.Spool), report: ApplyReport{Columns: namesOfColumns(p.columns), Warnings: p.warnings}}
	if d := opt.direct; d != nil && d.written != nil {
		err = d.commitOutput(&a.report)
		return a.report, err
	}
	layout, err := chooseLayout(ctx, access, inputs, a.catalog.List, out, opt.Form)
	if err != nil {
		return ApplyReport{}, err
	}
	a.matches = newRowMatches(ctx, p, a.spool)
	defer a.matches.endPass()
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

func (o ApplyOptions) withDefaults() ApplyOptions {
	defaults := settings.WithDefaults(settings.Options{Threads: o.Threads, Memory: o.Memory, Meter: o.Meter, Spool: o.Spool})
	o.Threads, o.Memory, o.Meter, o.Spool = defaults.Threads, defaults.Memory, defaults.Meter, defaults.Spool
	return o
}

type applier struct {
	*plan
	spool       *scratch.Space // stores bytes fetched from objects
	report      ApplyReport
	matches     *rowMatches  // the rows to write; nil for all
	footerBytes int64        // memory for the schema and the footer of the output while the output is written
	growing     *growingFile // the one output file, if a later run can resume it; else nil
}

func namesOfColumns(columns []copier.Column) []string {
	return convert.Each(columns, func(c copier.Column) string { return c.Name })
}
