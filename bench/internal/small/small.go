package small

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/stream"
)

type options struct {
	part         int64 // the files, row groups and columns are divided by this number
	count        int
	only         []string
	method       string
	binary, bare string
	folder       string
	seed         uint64
	progress     io.Writer
	command      string // the command line, for the results
}

// New returns the command small.
func New(c *cli.Shared) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "small",
		Short: "Costs of small things: of a file, a row group, a column",
		Long: `Runs ufs-stream select on tables of many small things, in turn with a bare reading of the
same table: 10,000 files, a million row groups of 100 rows, 100,000 columns, a condition that
keeps 1 % of the row groups, and the same as CSV and .npy.gz. Of each it prints the cpu time in
bare readings, and the time a thing takes beyond two of these and the start of the program.
With --part 1 the tables have their full size: an hour, and 3 GiB of disk.

  ufs-stream-bench small
  ufs-stream-bench small --part 100 --only files,columns`,
		Args: program.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.progress, o.command = c.RemarksWriter(), c.CommandLine()
			return o.runSmall(cmd.Context(), c.Out)
		},
	}
	f := cmd.Flags()
	f.Int64Var(&o.part, "part", 10, "take the `N`th part of the files, row groups and columns")
	f.IntVar(&o.count, "count", 3, "`N` turns")
	f.StringSliceVar(&o.only, "only", nil, "only cases whose names begin with one of `WORDS`")
	f.StringVar(&o.method, "method", "variance", "`METHOD` of select")
	f.StringVar(&o.binary, "binary", "", "measure this `FILE` (default: build ufs-stream, or else the installed one)")
	f.StringVar(&o.folder, "results", "bench-results", "folder `DIR` of the results; the project's own are in bench/results")
	f.Uint64Var(&o.seed, "seed", 1, "seed `N` of the data and of select")
	return cmd
}

// smallRun has the state of one run.
type smallRun struct {
	*options
	shop *workshop.Workshop
}

// measured is a case with its cpu times, one for each turn.
type measured struct {
	smallCase
	ours, bare []time.Duration
	peak       int64
}

func (o *options) runSmall(ctx context.Context, out io.Writer) error {
	cases := slices.DeleteFunc(listCases(max(o.part, 1)), func(c smallCase) bool {
		return len(o.only) > 0 && !slices.ContainsFunc(o.only, func(word string) bool { return strings.HasPrefix(c.name, word) })
	})
	switch {
	case o.part < 1:
		return stream.Usagef("small: --part %d: want 1 or more", o.part)
	case o.count < 1:
		return stream.Usagef("small: --count %d: want 1 or more", o.count)
	case len(cases) == 0:
		return stream.Usagef("small: --only %s: no case has a name that begins so", strings.Join(o.only, ","))
	}
	shop, err := workshop.New(ctx, o.binary)
	if err != nil {
		return err
	}
	defer shop.Close()
	if err := shop.BuildBare(ctx, o.bare); err != nil {
		return err
	}
	r := &smallRun{o, shop}
	start, err := r.measureCase(ctx, startCase())
	if err != nil {
		return err
	}
	var results []measured
	for _, c := range cases {
		m, err := r.measureCase(ctx, c)
		if err != nil {
			return err
		}
		results = append(results, m)
	}
	return r.writeResults(ctx, out, start, results)
}

func startCase() smallCase {
	t := table{parquetFormat, 1, groupRows, fewColumns, groupRows}
	return smallCase{name: "start", things: 1, table: t, yardstick: t}
}

func (r *smallRun) measureCase(ctx context.Context, c smallCase) (measured, error) {
	m := measured{smallCase: c}
	fmt.Fprintf(r.progress, "small: %s: making the data\n", c.name)
	data, yardstick := r.shop.Path("data"), r.shop.Path("data")
	defer os.RemoveAll(data)
	if err := c.table.writeFiles(ctx, data, r.seed); err != nil {
		return m, err
	}
	if c.yardstick != c.table {
		yardstick = r.shop.Path("yardstick")
		defer os.RemoveAll(yardstick)
		if err := c.yardstick.writeFiles(ctx, yardstick, r.seed); err != nil {
			return m, err
		}
	}
	for n := range r.count + 1 { // in turn 0 bareread alone reads the table, so that it is in memory
		fmt.Fprintf(r.progress, "small: %s: turn %d of %d\n", c.name, n, r.count)
		_, bare, err := workshop.RunChild(ctx, r.shop.Bare, "1", yardstick)
		if err != nil {
			return m, err
		}
		if n == 0 {
			continue
		}
		_, ours, err := r.shop.RunSelect(ctx, r.selectArgs(c, data)...)
		if err != nil {
			return m, err
		}
		m.bare, m.ours, m.peak = append(m.bare, bare.CPU), append(m.ours, ours.CPU), max(m.peak, ours.Peak)
	}
	return m, nil
}

func (r *smallRun) selectArgs(c smallCase, data string) []string {
	args := []string{data, "--method", r.method, "-k", "5", "--threads", "1", "--seed", strconv.FormatUint(r.seed, 10)}
	if c.table.format == parquetFormat {
		args = append(args, "--label", partName)
	}
	if c.condition != "" {
		args = append(args, "--where", c.condition)
	}
	return args
}
