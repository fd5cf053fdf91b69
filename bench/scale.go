package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/program"
	"github.com/ufs-stream/ufs-stream/stream"
)

// scaleOptions are the flags of scale.
type scaleOptions struct {
	rows, columns, threads []string
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
	binary, bare           string
	seed                   uint64
	progress               io.Writer

	rowCounts, columnCounts, threadCounts []int64                                        // rows, columns and threads, parsed
	generate                              func(ctx context.Context, args []string) error // runs gen; startSelf but in tests
	command                               string                                         // the command line, for the results
}

func newScale(c *cli) *cobra.Command {
	o := &scaleOptions{maxBytes: 4 << 30, generate: startSelf}
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Time, rows/s and peak memory over rows, columns and threads",
		Long: `Runs ufs-stream select, each point a process of its own, in turn with a bare reading of
the same file, on planted data of every size or on --data. Standard output has one line a
process in Go's benchmark format, as it comes; the folder --results gets them all
(NAME.txt, for benchstat), a summary (NAME.md) and plots (NAME-….svg).

  go run ./bench scale
  go run ./bench scale --rows 1e4,1e5 --columns 100 --count 3 --results /tmp/results
  go run ./bench scale --data emnist --name emnist --label label --methods sfufs,fufs --anchors 2000`,
		Args: program.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.progress, o.command = c.remarks(), c.commandLine()
			return o.run(cmd.Context(), c.out)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.rows, "rows", []string{"1e4", "1e5", "1e6", "1e7"}, "numbers of rows, `N`,…")
	f.StringSliceVar(&o.columns, "columns", []string{"100", "1000", "10000"}, "numbers of columns, `N`,…")
	f.StringSliceVar(&o.threads, "threads", threadCounts(), "numbers of threads, `N`,…")
	f.StringSliceVar(&o.methods, "methods", []string{"greedy", "sfufs"}, "`METHODS` of select")
	f.IntVar(&o.count, "count", 6, "`N` turns at every point; benchstat wants 6 for an interval")
	f.DurationVar(&o.onceAbove, "once-above", time.Minute, "one turn is enough of points that take longer")
	f.DurationVar(&o.giveUp, "give-up", 15*time.Minute, "leave out points that take longer")
	f.StringVar(&o.dir, "dir", "", "folder `DIR` for planted data (default: a scratch folder)")
	f.BoolVar(&o.keep, "keep", false, "leave planted data in --dir, for the next run")
	f.StringVar(&o.folder, "results", "bench/results", "folder `DIR` of the results")
	f.Var(&o.maxBytes, "max-bytes", "leave out sizes whose values take more, at 4 bytes each")
	f.StringSliceVar(&o.data, "data", nil, "measure on `PATHS` in place of planted data")
	f.StringVar(&o.name, "name", "", "`NAME` of the results (default: scale, or the name of the first path)")
	f.StringVar(&o.label, "label", "", "class column `COL` of --data: never a feature")
	f.StringVarP(&o.k, "k", "k", "", "select `N` features (default: as select has it)")
	f.IntVar(&o.anchors, "anchors", 0, "`M` anchors for the methods that have them (default: as select has it)")
	f.StringVar(&o.memoryLimit, "memory-limit", "", "`size` for select (default: as select has it)")
	f.StringVar(&o.binary, "binary", "", "measure this `FILE` (default: build ufs-stream)")
	f.Uint64Var(&o.seed, "seed", 1, "seed `N` of the data and of select")
	return cmd
}

// validate parses the lists and refuses flags that cannot be right.
func (o *scaleOptions) validate() (err error) {
	if o.rowCounts, err = wholeNumbers("rows", o.rows); err != nil {
		return err
	}
	if o.columnCounts, err = wholeNumbers("columns", o.columns); err != nil {
		return err
	}
	if o.threadCounts, err = wholeNumbers("threads", o.threads); err != nil {
		return err
	}
	switch {
	case o.count < 1:
		return stream.Usagef("scale: --count %d: want 1 or more", o.count)
	case o.onceAbove <= 0 || o.giveUp <= 0:
		return stream.Usagef("scale: --once-above %s, --give-up %s: want times above 0", o.onceAbove, o.giveUp)
	case o.keep && o.dir == "":
		return stream.Usagef("scale: --keep needs --dir, the folder to keep the data in")
	case len(o.methods) == 0:
		return stream.Usagef("scale: --methods names none")
	}
	if o.name == "" {
		o.name = "scale"
		if len(o.data) > 0 {
			o.name = strings.TrimSuffix(filepath.Base(o.data[0]), filepath.Ext(o.data[0]))
		}
	}
	if strings.ContainsAny(o.name, "/\\ \t") {
		return stream.Usagef("scale: --name %q: want a name without slashes and blanks", o.name)
	}
	return nil
}

// run measures all points, then writes the results.
func (o *scaleOptions) run(ctx context.Context, out io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	host, err := thisMachine()
	if err != nil {
		return err
	}
	shop, err := newWorkshop(ctx, o.binary)
	if err != nil {
		return err
	}
	defer shop.Close()
	if err := shop.buildBare(ctx, o.bare); err != nil {
		return err
	}
	var lines bytes.Buffer
	r := &scaleRun{scaleOptions: o, shop: shop, out: io.MultiWriter(out, &lines)}
	writeConfig(r.out, host, shop.version, o.command)
	if len(o.data) > 0 {
		err = r.measureInputs(ctx)
	} else {
		err = r.measurePlanted(ctx)
	}
	if err != nil {
		return err
	}
	return r.write(ctx, host, lines.Bytes())
}

// measureInputs measures on the data that --data names.
func (r *scaleRun) measureInputs(ctx context.Context) error {
	var plan struct {
		Rows     int64
		Features int
	}
	if _, err := r.shop.runJSON(ctx, &plan, "plan", append(slices.Clone(r.data), r.selectFlags(r.methods[0])...)...); err != nil {
		return err
	}
	return r.measure(ctx, r.name, size{plan.Rows, plan.Features}, r.data)
}
