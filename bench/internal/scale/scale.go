package scale

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/stream"
)

type options struct {
	verb                   string // scale or speed
	rows, columns, threads []string
	sparse                 []string // numbers of rows of sparse data
	methods                []string
	count                  int
	onceAbove, giveUp      time.Duration
	dir, folder            string
	keep                   bool
	maxBytes               program.Bytes
	data                   []string
	name, label, k         string
	memoryLimit            string
	anchors                int
	binary, bare, decode   string
	duckDB                 string
	older                  string // an older ufs-stream; empty if none is measured
	seed                   uint64
	progress               io.Writer

	rowCounts, columnCounts, threadCounts []int64                                        // values of --rows, --columns and --threads
	sparseCounts                          []int64                                        // values of --sparse
	methodFlags                           map[string][]string                            // additional flags of select, by method
	generate                              func(ctx context.Context, args []string) error // runs gen; workshop.StartSelf except in tests
	command                               string                                         // the command line, for the results
}

// New returns the command scale.
func New(c *cli.Shared) *cobra.Command {
	o := &options{
		verb: "scale", rows: []string{"1e4", "1e5", "1e6", "1e7"}, columns: []string{"100", "1000", "10000"}, threads: defaultThreadCounts(),
		methods: []string{"greedy", "sfufs"}, giveUp: 15 * time.Minute, generate: workshop.StartSelf,
	}
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Time, rows/s and peak memory over rows, columns and threads",
		Long: `Runs ufs-stream select, each point a process of its own, in turn with a bare reading of
the same file, on planted data of every size or on --data. Standard output has one line a
process in Go's benchmark format, as it comes; the folder --results gets them all
(NAME.txt, for benchstat), a summary (NAME.md) and plots (NAME-….svg).

  ufs-stream-bench scale
  ufs-stream-bench scale --rows 1e4,1e5 --columns 100 --count 3 --results /tmp/results
  ufs-stream-bench scale --name wide --rows 200 --sparse 2e4 --columns 1e2,1e3,1e4,1e5,1e6
  ufs-stream-bench scale --data emnist --name emnist --label label --methods sfufs,fufs --anchors 2000`,
		Args: program.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.progress, o.command = c.RemarksWriter(), c.CommandLine()
			return o.runScale(cmd.Context(), c.Out)
		},
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.DurationVar(&o.onceAbove, "once-above", time.Minute, "one turn is enough of points that take longer")
	f.StringVar(&o.name, "name", "", "`NAME` of the results (default: scale, or the name of the first path)")
	f.StringSliceVar(&o.sparse, "sparse", nil, "also measure on word counts, in sparse rows: numbers of those rows, `N`,…")
	f.StringVarP(&o.k, "k", "k", "", "select `N` features (default: as select has it)")
	f.IntVar(&o.anchors, "anchors", 0, "`M` anchors for the methods that have them (default: as select has it)")
	return cmd
}

func (o *options) addFlags(f *pflag.FlagSet) {
	o.maxBytes = 4 << 30
	f.StringSliceVar(&o.rows, "rows", o.rows, "numbers of rows, `N`,…")
	f.StringSliceVar(&o.columns, "columns", o.columns, "numbers of columns, `N`,…")
	f.StringSliceVar(&o.threads, "threads", o.threads, "numbers of threads, `N`,…")
	f.StringSliceVar(&o.methods, "methods", o.methods, "`METHODS` of select")
	f.IntVar(&o.count, "count", 6, "`N` turns at every point; benchstat wants 6 for an interval")
	f.DurationVar(&o.giveUp, "give-up", o.giveUp, "leave out points that take longer")
	f.StringVar(&o.dir, "dir", "", "folder `DIR` for the data it makes (default: a scratch folder)")
	f.BoolVar(&o.keep, "keep", false, "leave the data in --dir, for the next run")
	f.StringVar(&o.folder, "results", "bench-results", "folder `DIR` of the results; the project's own are in bench/results")
	f.Var(&o.maxBytes, "max-bytes", "leave out sizes whose values take more, at 4 bytes each")
	f.StringSliceVar(&o.data, "data", nil, "measure on `PATHS` in place of made data")
	f.StringVar(&o.label, "label", "", "class column `COL` of --data: never a feature")
	f.StringVar(&o.memoryLimit, "memory-limit", "", "`size` for select (default: as select has it)")
	f.StringVar(&o.binary, "binary", "", "measure this `FILE` (default: build ufs-stream, or else the installed one)")
	f.Uint64Var(&o.seed, "seed", 1, "seed `N` of the data and of select")
}

func (o *options) validate() (err error) {
	if o.rowCounts, err = cli.WholeNumbers("rows", o.rows); err != nil {
		return err
	}
	if o.columnCounts, err = cli.WholeNumbers("columns", o.columns); err != nil {
		return err
	}
	if o.threadCounts, err = cli.WholeNumbers("threads", o.threads); err != nil {
		return err
	}
	if o.sparseCounts, err = cli.WholeNumbers("sparse", o.sparse); err != nil {
		return err
	}
	switch {
	case o.count < 1:
		return stream.Usagef("%s: --count %d: want 1 or more", o.verb, o.count)
	case o.giveUp <= 0:
		return stream.Usagef("%s: --give-up %s: want a time above 0", o.verb, o.giveUp)
	case o.onceAbove <= 0:
		return stream.Usagef("%s: --once-above %s: want a time above 0", o.verb, o.onceAbove)
	case o.keep && o.dir == "":
		return stream.Usagef("%s: --keep needs --dir, the folder to keep the data in", o.verb)
	case len(o.methods) == 0:
		return stream.Usagef("%s: --methods names none", o.verb)
	case len(o.sparse) > 0 && len(o.data) > 0:
		return stream.Usagef("%s: --sparse asks for made data, and --data for its own", o.verb)
	case len(o.sparse) > 0 && o.columnCounts[0] < minSparseColumns:
		return stream.Usagef("%s: --columns %d: sparse data has from %d on", o.verb, o.columnCounts[0], minSparseColumns)
	}
	if o.name == "" {
		o.name = o.verb
		if len(o.data) > 0 {
			o.name = o.dataName()
		}
	}
	if strings.ContainsAny(o.name, "/\\ \t") {
		return stream.Usagef("%s: --name %q: want a name without slashes and blanks", o.verb, o.name)
	}
	return nil
}

func (o *options) dataName() string {
	name := strings.TrimSuffix(filepath.Base(o.data[0]), filepath.Ext(o.data[0]))
	return strings.Join(strings.Fields(name), "-")
}

func (o *options) runScale(ctx context.Context, out io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	r, err := o.openWorkshop(ctx, out)
	if err != nil {
		return err
	}
	defer r.shop.Close()
	if len(o.data) > 0 {
		err = r.measureInputs(ctx, o.name)
	} else {
		err = r.measureGenerated(ctx, plantedData, r.rowCounts)
		if err == nil {
			err = r.measureGenerated(ctx, sparseData, r.sparseCounts)
		}
	}
	if err != nil {
		return err
	}
	return r.writeResults(ctx)
}

func (o *options) openWorkshop(ctx context.Context, out io.Writer) (*scaleRun, error) {
	shop, err := workshop.New(ctx, o.binary)
	if err != nil {
		return nil, err
	}
	if err := shop.BuildBare(ctx, o.bare); err != nil {
		shop.Close()
		return nil, err
	}
	r := &scaleRun{options: o, shop: shop, readers: []string{bareReading}}
	r.out = io.MultiWriter(out, &r.lines)
	writeConfig(r.out, shop, o.command)
	return r, nil
}

func (r *scaleRun) measureInputs(ctx context.Context, name string) error {
	var plan struct {
		Rows     int64
		Features int
	}
	if _, err := r.shop.RunJSON(ctx, &plan, "plan", append(slices.Clone(r.data), r.selectFlags(r.methods[0])...)...); err != nil {
		return err
	}
	return r.measureDataset(ctx, name, size{plan.Rows, plan.Features}, r.data, nil)
}
