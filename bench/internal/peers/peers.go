package peers

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/stream"
)

type options struct {
	files          []string // Parquet files; if empty, datasets are generated
	label          string
	rows           []string
	k              int
	methods        []string
	count, runs    int
	giveUp         time.Duration
	memory         program.Bytes
	threads        int
	peerScale      string // scaling of the rows in Python: standard or none
	peerType       string // type of the values in Python's file: float64 or float32
	judgeRows      int64  // rows that eval judges the choices on; 0 for all
	python, binary string
	node, modules  string
	folder, name   string
	seed           uint64
	progress       io.Writer

	rowCounts []int64
	generate  func(ctx context.Context, args []string) error // runs gen; workshop.StartSelf except in tests
	command   string                                         // the command line, for the results
}

func defaultOptions() *options {
	return &options{
		label: gen.LabelName, rows: []string{"500", "1000", "2000", "4000", "8000"}, count: 1, runs: 10, giveUp: time.Minute,
		memory: 4 << 30, threads: runtime.NumCPU(), peerScale: "standard", peerType: "float64", python: "/usr/bin/python3",
		node: "node", modules: filepath.Join("bench", "_duckdb", "node_modules"), folder: "bench-results", name: "peers", seed: 1,
		generate: workshop.StartSelf,
	}
}

// New returns the command peers.
func New(c *cli.Shared) *cobra.Command {
	o := defaultOptions()
	cmd := &cobra.Command{
		Use:   "peers [FILE.parquet…]",
		Short: "Time, memory and quality beside scikit-learn, and beside methods as scikit-feature has them",
		Long: `Selects features of growing numbers of the same rows with ufs-stream and as users do today: with
scikit-learn (variance, feature agglomeration, principal components, these also by batches), from
X.T @ X of a memory map in NumPy, by SciPy's pivoted QR, with FastCan's algorithm, with DuckDB's and
polars' correlations of all pairs, and with Laplacian score, SPEC and MCFS on dense matrices of rows
by rows, as the library scikit-feature has them. Every selection is a process of its own, in turn
with the others; the choices are judged alike, by ufs-stream eval. Python gets the rows as .npy, the
others as Parquet. Without a FILE the sets are generated: planted and grid.

DuckDB and polars run in Node.js from their npm packages, and are left out where these are absent:

  npm ci --prefix bench/_duckdb
  npm install --no-save --prefix bench/_duckdb nodejs-polars nodejs-polars-linux-x64-gnu

The results are --results/NAME.md and NAME.csv. A method that took more than --give-up or
--memory-limit is not tried on more rows, and the results say so.

  ufs-stream-bench peers
  ufs-stream-bench peers ../shared/datasets/mnist10k.parquet --rows 1000,4000 --give-up 30s`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.progress, o.command, o.files = c.RemarksWriter(), c.CommandLine(), args
			return o.runPeers(cmd.Context(), c.Out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.label, "label", o.label, "class column `COL`: never a feature")
	f.StringSliceVar(&o.rows, "rows", o.rows, "numbers of rows, `N`,…, drawn by the seed")
	f.IntVarP(&o.k, "k", "k", 0, "select `N` features (default: a tenth of them, 2 at least)")
	f.StringSliceVar(&o.methods, "methods", nil, "only these `METHODS`; list names them all (default: all)")
	f.IntVar(&o.count, "count", o.count, "`N` turns at every point, of which the median counts")
	f.IntVar(&o.runs, "runs", o.runs, "judge by `N` runs of k-means")
	f.DurationVar(&o.giveUp, "give-up", o.giveUp, "end a selection that takes longer")
	f.Var(&o.memory, "memory-limit", "`size` for a selection")
	f.IntVar(&o.threads, "threads", o.threads, "`N` threads for every process")
	f.StringVar(&o.peerScale, "peer-scale", o.peerScale, "scale of the columns in Python: standard, as most methods of ufs-stream have it, or none")
	f.StringVar(&o.peerType, "peer-type", o.peerType, "type of the values in Python's file: float64 or float32")
	f.Int64Var(&o.judgeRows, "judge-rows", 0, "judge the choices on a sample of `N` rows (default: on all that they were chosen from)")
	f.StringVar(&o.node, "node", o.node, "Node.js's program `FILE`, for DuckDB and polars")
	f.StringVar(&o.modules, "modules", o.modules, "folder `DIR` of the npm packages of DuckDB and polars")
	f.StringVar(&o.python, "python", o.python, "Python's program `FILE`, which has scikit-learn")
	f.StringVar(&o.binary, "binary", "", "measure this `FILE` (default: build ufs-stream, or else the installed one)")
	f.StringVar(&o.folder, "results", o.folder, "folder `DIR` of the results")
	f.StringVar(&o.name, "name", o.name, "`NAME` of the results")
	f.Uint64Var(&o.seed, "seed", o.seed, "seed `N` of everything random")
	return cmd
}

func (o *options) validate() (err error) {
	if o.rowCounts, err = cli.WholeNumbers("rows", o.rows); err != nil {
		return err
	}
	switch {
	case len(o.rowCounts) == 0 || o.rowCounts[0] < minRows:
		return stream.Usagef("peers: --rows: want numbers from %d on", minRows)
	case o.k < 0 || o.count < 1 || o.runs < 1 || o.threads < 1:
		return stream.Usagef("peers: -k %d, --count %d, --runs %d, --threads %d: want numbers from 1 on", o.k, o.count, o.runs, o.threads)
	case len(o.files) == 0 && o.label != gen.LabelName:
		return stream.Usagef("peers: --label %s is for a FILE; the classes of generated sets are in column %s", o.label, gen.LabelName)
	case o.peerScale != "standard" && o.peerScale != "none":
		return stream.Usagef("peers: --peer-scale %s: want standard or none", o.peerScale)
	case o.peerType != "float64" && o.peerType != "float32":
		return stream.Usagef("peers: --peer-type %s: want float64 or float32", o.peerType)
	case o.judgeRows < 0:
		return stream.Usagef("peers: --judge-rows %d: want a number from 0 on", o.judgeRows)
	case o.giveUp <= 0:
		return stream.Usagef("peers: --give-up %s: want a time above 0", o.giveUp)
	case o.seed == 0 || o.seed > math.MaxUint32:
		return stream.Usagef("peers: --seed %d: want a number from 1 to %d, which NumPy takes as well", o.seed, uint32(math.MaxUint32))
	case o.name == "" || strings.ContainsAny(o.name, "/\\"):
		return stream.Usagef("peers: --name %q: want a name without slashes", o.name)
	}
	for i, path := range o.files {
		if slices.ContainsFunc(o.files[:i], func(other string) bool { return tableName(other) == tableName(path) }) {
			return stream.Usagef("peers: two files are called %s; results would not tell them apart", tableName(path))
		}
	}
	for _, m := range o.methods {
		if !slices.ContainsFunc(allPeers(), func(c peer) bool { return c.fullName() == m }) {
			return stream.Usagef("peers: --methods %s: want some of %s", m, strings.Join(allPeerNames(), ", "))
		}
	}
	return nil
}

// minRows is the least number of rows that every method accepts.
const minRows = 20

func (o *options) runPeers(ctx context.Context, out io.Writer) error {
	if slices.Equal(o.methods, []string{"list"}) {
		_, err := fmt.Fprintln(out, strings.Join(allPeerNames(), "\n"))
		return err
	}
	if err := o.validate(); err != nil {
		return err
	}
	shop, err := workshop.New(ctx, o.binary)
	if err != nil {
		return err
	}
	r := &run{options: o, shop: shop}
	defer r.shop.Close()
	if err := r.findPython(ctx); err != nil {
		return err
	}
	if err := r.findEngines(ctx); err != nil {
		return err
	}
	tables := o.files
	if len(tables) == 0 {
		if tables, err = r.makeTables(ctx); err != nil {
			return err
		}
	}
	for _, path := range tables {
		if err := r.measureTable(ctx, path); err != nil {
			return err
		}
	}
	return r.writeResults(ctx, out)
}

func (r *run) makeTables(ctx context.Context) ([]string, error) {
	rows := fmt.Sprint(slices.Max(r.rowCounts))
	var tables []string
	for _, args := range [][]string{
		{"planted", "--columns", "200", "--type", "float", "--label"},
		{"grid", "--shape", "20x20", "--classes", "10"},
	} {
		path := r.shop.Path(args[0] + ".parquet")
		r.printRemark("making %s", filepath.Base(path))
		args = slices.Concat([]string{"gen"}, args, []string{"--rows", rows, "--seed", fmt.Sprint(r.seed), "-o", path, "-q"})
		if err := r.generate(ctx, args); err != nil {
			return nil, err
		}
		tables = append(tables, path)
	}
	return tables, nil
}

func (o *options) printRemark(format string, args ...any) {
	fmt.Fprintf(o.progress, "peers: "+format+"\n", args...)
}
