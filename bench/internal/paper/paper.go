package paper

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/bench/internal/tuning"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/stream"
)

// options are the flags of paper.
type options struct {
	data     string
	emnist   string
	tables   []string
	datasets []string
	output   string
	resume   string
	binary   string
	quick    bool
	seed     uint64
	threads  int
	progress io.Writer
	command  string // the command line, for the results
}

// New returns the command paper.
func New(c *cli.Shared) *cobra.Command {
	o := new(options)
	var names []string
	for _, t := range allTables() {
		names = append(names, t.name)
	}
	cmd := &cobra.Command{
		Use:   "paper --data DIR",
		Short: "The papers' tables on the real datasets, beside their figures",
		Long: `Runs ufs-stream itself, as a user would: select with each method, then one eval for
each dataset, and writes for every table the paper's figure, ours, the difference, and tests between
methods, as Markdown, CSV and LaTeX. For methods whose weights labels choose in the paper it runs the paper's grid by
path, judges every setting by eval, and runs the best again with fresh seeds, beside as many
random selections tuned alike. All tables together take up to two hours on two cores.

  ufs-stream-bench paper --data ../shared/datasets --resume paper.kept -o bench/results/paper
  ufs-stream-bench paper --data ../shared/datasets --tables greedy --datasets ORL`,
		Args: program.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.progress, o.command = c.RemarksWriter(), c.CommandLine()
			return o.runPaper(cmd.Context(), c.Out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.data, "data", "", "folder `DIR` with orl.parquet, coil20.parquet, …")
	f.StringVar(&o.emnist, "emnist", "", "folder `DIR` that gen emnist has made: a row of the SFUFS tables")
	f.StringSliceVar(&o.tables, "tables", names, "only these `TABLES`")
	f.StringSliceVar(&o.datasets, "datasets", nil, "only these `SETS`, as ORL,USPS")
	f.StringVarP(&o.output, "output", "o", "", "write to `PATH`.md, .csv and .tex, or only to PATH if it has one of these endings (default: Markdown to standard output)")
	f.StringVar(&o.resume, "resume", "", "keep what is finished in folder `DIR`, and continue from there after an interruption")
	f.StringVar(&o.binary, "binary", "", "measure this `FILE` (default: build ufs-stream, or else the installed one)")
	f.BoolVar(&o.quick, "quick", false, "2 runs of 1 restart: to see that all works, not for figures")
	f.Uint64Var(&o.seed, "seed", 1, "seed `N` of everything random")
	f.IntVar(&o.threads, "threads", 0, "`N` worker threads (0: one for each core)")
	return cmd
}

func (o *options) runPaper(ctx context.Context, out io.Writer) error {
	tables, err := o.chooseTables()
	if err != nil {
		return err
	}
	w, err := workshop.New(ctx, o.binary)
	if err != nil {
		return err
	}
	defer w.Close()
	r, err := tuning.NewRunner(w, o.resume)
	if err != nil {
		return err
	}
	var outcomes []outcome
	for _, t := range tables {
		result, err := o.fillTable(ctx, r, t)
		if err != nil {
			return err
		}
		outcomes = append(outcomes, result)
	}
	return o.writeFiles(ctx, out, r, outcomes)
}

func (o *options) chooseTables() ([]table, error) {
	if o.data == "" {
		return nil, stream.Usagef("paper: --data DIR must name the folder of the datasets")
	}
	var chosen []table
	var names, sets []string
	for _, t := range allTables() {
		names = append(names, t.name)
		if t.emnist && o.emnist != "" {
			t.sets = append(t.sets, emnistSet(o.emnist))
		}
		for _, s := range t.sets {
			sets = append(sets, s.title)
		}
		if slices.Contains(o.tables, t.name) {
			t.sets = slices.DeleteFunc(t.sets, func(s dataset) bool { return len(o.datasets) > 0 && !containsFold(o.datasets, s.title) })
			if len(t.sets) > 0 {
				chosen = append(chosen, t)
			}
		}
	}
	for _, name := range o.tables {
		if !slices.Contains(names, name) {
			return nil, stream.Usagef("paper: unknown table %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	slices.Sort(sets)
	sets = slices.Compact(sets)
	for _, name := range o.datasets {
		if !containsFold(sets, name) {
			return nil, stream.Usagef("paper: unknown dataset %q; there are %s", name, strings.Join(sets, ", "))
		}
	}
	if len(chosen) == 0 {
		return nil, stream.Usagef("paper: tables %s have no dataset %s", strings.Join(o.tables, ", "), strings.Join(o.datasets, ", "))
	}
	for _, t := range chosen {
		for _, s := range t.sets {
			if _, err := os.Stat(o.inputPath(s)); err != nil {
				return nil, &stream.DataError{Path: o.inputPath(s), RowGroup: -1, Row: -1, Err: err, Remedy: stream.Textf("--data names the folder of the datasets, --datasets those that are wanted")}
			}
		}
	}
	return chosen, nil
}

func containsFold(names []string, wanted string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, wanted) })
}

func (o *options) printRemark(format string, args ...any) {
	fmt.Fprintf(o.progress, "paper: "+format+"\n", args...)
}
