package memory

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

type options struct {
	files     []string // Parquet files in addition to the generated tables
	label     string   // label column of the files
	share     float64
	times     float64  // factor by which the smallest limit is multiplied
	tables    []string // names of the generated tables to use
	runFilter string
	giveUp    time.Duration
	binary    string
	folder    string
	dir       string
	progress  io.Writer

	generate func(ctx context.Context, args []string) error // runs gen; workshop.StartSelf except in tests
	command  string                                         // the command line, for the results
}

// New returns the command memory.
func New(c *cli.Shared) *cobra.Command {
	o := &options{share: 1, times: 1, giveUp: 10 * time.Minute, folder: "bench-results", generate: workshop.StartSelf}
	cmd := &cobra.Command{
		Use:   "memory [FILE.parquet…]",
		Short: "Peak memory of every method and verb at the smallest limit that it names itself",
		Long: `Asks ufs-stream for every method and verb with a --memory-limit of 1 MiB, takes the limit that the
refusal names, until the run is done, and compares its peak resident memory with that limit: on
tables that are hard on memory, and on each FILE. A peak above its limit is an error (exit code 1).

The made tables are wide (500 × 20,000), tall (4,000,000 × 10), sparse (20,000 × 50,000 words), one
row group of 2 GB, and a million row groups; --share makes them smaller. Results are
--results/memory.md.

  ufs-stream-bench memory
  ufs-stream-bench memory --share 0.01
  ufs-stream-bench memory --share 0.01 --times 2
  ufs-stream-bench memory ../shared/datasets/*.parquet --tables none`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.progress, o.command, o.files = c.RemarksWriter(), c.CommandLine(), args
			return o.runMemory(cmd.Context(), c.Out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.label, "label", "label", "class column `COL` of every FILE; \"\" where there is none")
	f.Float64Var(&o.share, "share", o.share, "`SHARE` of the full size of the made tables")
	f.Float64Var(&o.times, "times", o.times, "run with so many `TIMES` the limit that is named, where plans go other ways")
	f.StringSliceVar(&o.tables, "tables", nil, "only these made `TABLES`, or none (default: all)")
	f.StringVar(&o.runFilter, "runs", "", "only runs whose name has `TEXT` in it, and those that they need")
	f.DurationVar(&o.giveUp, "give-up", o.giveUp, "end a run that takes longer")
	f.StringVar(&o.binary, "binary", "", "measure this `FILE` (default: build ufs-stream, or else the installed one)")
	f.StringVar(&o.folder, "results", o.folder, "folder `DIR` of the results")
	f.StringVar(&o.dir, "dir", "", "folder `DIR` for the made tables, which are some 5 GB (default: a scratch folder)")
	return cmd
}

func (o *options) requestedTables() ([]shape, error) {
	all := listMadeShapes(o.share)
	if !(o.share > 0 && o.share <= 1) {
		return nil, stream.Usagef("memory: --share %v: want a share above 0 and up to 1", o.share)
	}
	if o.giveUp <= 0 {
		return nil, stream.Usagef("memory: --give-up %s: want a time above 0", o.giveUp)
	}
	if !(o.times >= 1 && o.times <= 1000) {
		return nil, stream.Usagef("memory: --times %v: want a number from 1 to 1000", o.times)
	}
	names := convert.Each(all, func(s shape) string { return s.name })
	for _, name := range o.tables {
		if name != "none" && !slices.Contains(names, name) {
			return nil, stream.Usagef("memory: --tables %s: want some of %s, or none", name, strings.Join(names, ", "))
		}
	}
	if len(o.tables) > 0 {
		all = slices.DeleteFunc(all, func(s shape) bool { return !slices.Contains(o.tables, s.name) })
	}
	for _, path := range o.files {
		all = append(all, shape{name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), path: path})
	}
	return all, nil
}

func (o *options) runMemory(ctx context.Context, out io.Writer) error {
	tables, err := o.requestedTables()
	if err != nil {
		return err
	}
	shop, err := workshop.New(ctx, o.binary)
	if err != nil {
		return err
	}
	defer shop.Close()
	var points []runResult
	for i := range tables {
		s := &tables[i]
		dir := shop.Path(fmt.Sprintf("table-%d", i))
		if o.dir != "" {
			dir = filepath.Join(o.dir, filepath.Base(dir))
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return &stream.OutputError{Path: dir, Err: err}
		}
		fmt.Fprintf(o.progress, "%s: making it\n", s.name)
		if err := s.makeTable(ctx, o, dir); err != nil {
			return err
		}
		found, err := o.measureTable(ctx, shop, s, dir)
		if err != nil {
			return err
		}
		points = append(points, found...)
		os.RemoveAll(dir) // the next table needs the space
	}
	return o.writeResults(ctx, out, points, shop)
}

func (o *options) measureTable(ctx context.Context, shop *workshop.Workshop, s *shape, dir string) ([]runResult, error) {
	var points []runResult
	list := listJobs(s, o.label, dir)
	for _, j := range list {
		if o.runFilter != "" && !strings.Contains(j.name, o.runFilter) && !makesNeededFile(list, j, o.runFilter) {
			continue
		}
		p, err := o.findLimit(ctx, shop, s, j, dir)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(o.progress, "%s\n", p)
		points = append(points, p)
	}
	return points, nil
}

func makesNeededFile(list []job, j job, nameFilter string) bool {
	return slices.ContainsFunc(list, func(other job) bool {
		return strings.Contains(other.name, nameFilter) && slices.ContainsFunc(other.needs, func(file string) bool {
			return slices.ContainsFunc(j.args, func(arg string) bool { return filepath.Base(arg) == file && !slices.Contains(j.needs, file) })
		})
	})
}

const mebibyte = 1 << 20

func formatMebibytes(n int64) string { return fmt.Sprintf("%.0f", math.Ceil(float64(n)/mebibyte)) }
