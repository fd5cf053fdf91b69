package quality

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// options are the flags of the verb quality.
type options struct {
	inputs     []string // files and folders
	methods    []string
	selections []string // files and folders
	sets       []string
	skip       []string
	shares     []string
	output     string
	label      string
	tune       string
	binary     string // ufs-stream, for tune
	seeds      int
	halves     int
	rows       int64
	evalRows   int64
	timeout    time.Duration
	memory     program.Bytes
	generated  bool
	fresh      bool
	threads    int
	seed       uint64
	kinds      string // path of the file of kinds
	heldOut    uint64
	progress   io.Writer
	command    string // the command line, for the results

	percents   []float64         // the values of shares
	variants   []variant         // the variants that methods names
	namedKinds map[string]string // kinds of datasets, read from the file of kinds
}

// New returns the command quality.
func New(c *cli.Shared) *cobra.Command {
	o := &options{memory: 2 << 30}
	cmd := &cobra.Command{
		Use:   "quality INPUT…",
		Short: "Every method on every labelled set: which chooses best, and how surely",
		Long: `Runs every method at its defaults, and some variants of them, over every INPUT that has a
label column, and over generated sets whose answer is known. An INPUT is a file of any format
that ufs-stream reads, or a folder of such files. Clusters the rows on the chosen columns, and compares the clusters and nearest
neighbours with the classes; and says what the columns explain of all, and how many of the
factors of generated sets they cover. The label takes no part in any selection.

--methods takes METHOD:OPTION=VALUE,… for any option of the method, and scale; and the names
of variants that stand for such settings, as sfufs:identity for sfufs:constraint=identity.
--selections judges choices of other tools on their sets: files that eval --selection takes,
each with the name of its set, in a folder with the name of the tool.

--tune labels judges every setting of the grids of path for sfufs, fufs, eufs, hufs, jelsr and ndfs by the
labels, 1e-3..1e3 for each weight or the ranges in --methods, as sfufs:alpha=0.1..10,clusters=20,
and runs the best again. OUTPUT.tuned keeps the outputs of its commands.

Every finished pair of set and variant is a line of OUTPUT.jsonl, and is not run again
until the set, the options or the method's own sources change: the same command goes on
where it was interrupted. OUTPUT.md, OUTPUT.csv, OUTPUT.json and OUTPUT-….svg are then
written anew from these lines.

  ufs-stream-bench quality ../shared/datasets
  ufs-stream-bench quality --k 5 --halves 0 --methods default,greedy,random,all ../shared/datasets
  ufs-stream-bench quality --held-out 1 ../shared/datasets
  ufs-stream-bench quality --methods greedy,greedy:none,random --k 5,10 -o /tmp/q SETS
  ufs-stream-bench quality --methods greedy,sfufs:alpha=0.1,clusters=20 --label species iris.csv
  ufs-stream-bench quality --methods default,random --selections mytool/iris.json --label species iris.csv
  ufs-stream-bench quality --methods sfufs,eufs --tune labels --k 5,10 --label species iris.csv
  ufs-stream-bench quality --methods list`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.progress, o.command, o.inputs = c.RemarksWriter(), c.CommandLine(), args
			return o.runQuality(cmd.Context(), c.Out)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.methods, "methods", nil, "only these `VARIANTS`, also with settings as sfufs:alpha=0.1,clusters=20; list gives all names (default: all)")
	f.StringSliceVar(&o.selections, "selections", nil, "also judge the selections of other tools: `PATHS` of files TOOL/SET.json (or .txt, .csv: lists of names), or of folders TOOL of such files")
	f.StringSliceVar(&o.sets, "sets", nil, "only sets whose `NAMES` match these globs (default: all)")
	f.StringSliceVar(&o.skip, "skip", nil, "not the sets whose `NAMES` match these globs")
	f.StringSliceVar(&o.shares, "k", []string{"2", "5", "10", "20"}, "shares of the features to choose, in `PERCENT`; 2 features at least")
	f.StringVarP(&o.output, "output", "o", "bench-results/quality", "results are `PATH`.md, .csv, .json, .jsonl and -….svg")
	f.StringVar(&o.tune, "tune", "", "also choose the settings of methods by `labels`, as papers do, from path's grids, beside random features tuned alike and the default")
	f.StringVar(&o.binary, "binary", "", "tune this `FILE` (default: build ufs-stream, or else the installed one)")
	f.StringVar(&o.label, "label", "", "class column `COL` (default: label, else class)")
	f.IntVar(&o.seeds, "seeds", 10, "`N` runs of k-means, each from one start")
	f.IntVar(&o.halves, "halves", 2, "`N` halves of the rows, in complementary pairs, to select from for the stability; 0: none")
	f.Int64Var(&o.rows, "rows", 20_000, "select from a seeded sample of `N` rows where a set has more")
	f.Int64Var(&o.evalRows, "eval-rows", 3_000, "cluster a seeded sample of `N` rows where a set has more")
	f.DurationVar(&o.timeout, "timeout", 3*time.Minute, "give up a selection that takes longer, or a tuning that takes longer for each of its settings")
	f.Var(&o.memory, "memory-limit", "`size` for a selection")
	f.BoolVar(&o.generated, "generated", true, "add the generated sets")
	f.BoolVar(&o.fresh, "fresh", false, "run again what is there")
	f.StringVar(&o.kinds, "kinds", "", "`FILE` of lines name,kind: the kinds of sets whose names are not known, or other ones")
	f.Uint64Var(&o.heldOut, "held-out", 0, "hold a half of the sets of every kind, drawn by the seed `N`, out of the tables, and give them their own (0: none)")
	f.IntVar(&o.threads, "threads", 0, "`N` worker threads (0: one for each core)")
	f.Uint64Var(&o.seed, "seed", 1, "seed `N` of everything random")
	return cmd
}

func (o *options) validate(ctx context.Context) (err error) {
	for _, s := range o.shares {
		p, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
		if err != nil || !(p > 0 && p <= 100) {
			return stream.Usagef("quality: --k %s: want a share of the features in per cent", s)
		}
		o.percents = append(o.percents, p)
	}
	slices.Sort(o.percents)
	o.percents = slices.Compact(o.percents)
	switch {
	case len(o.percents) == 0:
		return stream.Usagef("quality: --k names no share")
	case len(o.inputs) == 0 && !o.generated:
		return stream.Usagef("quality: no INPUT given, and --generated=false makes none")
	case o.seeds < 1 || o.rows < 4 || o.evalRows < 4:
		return stream.Usagef("quality: --seeds %d, --rows %d, --eval-rows %d: want 1 seed and 4 rows or more", o.seeds, o.rows, o.evalRows)
	case o.halves < 0 || o.halves%2 != 0:
		return stream.Usagef("quality: --halves %d: want an even number; halves come in pairs", o.halves)
	case o.tune != "" && o.tune != byLabels:
		return stream.Usagef("quality: --tune %s: want %s", o.tune, byLabels)
	case o.timeout <= 0:
		return stream.Usagef("quality: --timeout %s: want a time above 0", o.timeout)
	}
	for _, glob := range slices.Concat(o.sets, o.skip) {
		if _, err := filepath.Match(glob, ""); err != nil {
			return stream.Usagef("quality: %s in --sets or --skip is no glob", glob)
		}
	}
	if o.kinds != "" {
		if o.namedKinds, err = readKinds(o.kinds); err != nil {
			return err
		}
	}
	if err := o.chooseVariants(); err != nil {
		return err
	}
	if o.tune != "" {
		if err := refuseUntunable(o.variants); err != nil {
			return err
		}
	}
	o.variants, err = appendSelections(ctx, o.variants, o.selections, int64(o.memory))
	return err
}

func (o *options) runQuality(ctx context.Context, out io.Writer) error {
	if slices.Equal(o.methods, []string{"list"}) {
		for _, v := range knownVariants() {
			fmt.Fprintln(out, v.name)
		}
		return nil
	}
	if err := o.validate(ctx); err != nil {
		return err
	}
	host, err := workshop.ThisMachine()
	if err != nil {
		return err
	}
	scratch, err := workshop.MakeScratch()
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	sets, err := o.findSets(ctx, scratch)
	if err != nil {
		return err
	}
	if len(sets) == 0 {
		return stream.Usagef("quality: no file with a label column in %s", strings.Join(o.inputs, ", "))
	}
	store, err := openFindings(o.output + ".jsonl")
	if err != nil {
		return err
	}
	defer store.Close()
	r := &run{options: o, scratch: scratch, store: store}
	if err := r.fillFindings(ctx, sets); err != nil {
		return err
	}
	if o.tune != "" {
		if err := r.tuneVariants(ctx, sets); err != nil {
			return err
		}
	}
	return r.writeResults(ctx, host, sets)
}

func (o *options) printRemark(format string, args ...any) {
	fmt.Fprintf(o.progress, "quality: "+format+"\n", args...)
}
