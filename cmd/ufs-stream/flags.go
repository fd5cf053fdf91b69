package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/stream"
)

// inputFlags say what is read of the input and what a missing entry means.
type inputFlags struct {
	columns, exclude []string
	label, weight    string
	sparse           string
	missing          choice
	rows             int64
	sample           int64 // --sample, where the method takes one
	onError          choice
}

func (f *inputFlags) add(fs *pflag.FlagSet) {
	f.missing = newChoice("error", "error", "drop-row", "mean", "zero")
	f.onError = newChoice("fail", "fail", "skip-file")
	fs.StringSliceVar(&f.columns, "columns", nil, "only these columns are features (`GLOBS`: names or globs, comma-separated)")
	fs.StringSliceVar(&f.exclude, "exclude", nil, "these columns are no features (`GLOBS`: names or globs, comma-separated)")
	fs.StringVar(&f.label, "label", "", "the class column `COL`: never a feature")
	fs.StringVar(&f.weight, "weight", "", "column `COL` of row weights (>= 0): never a feature")
	fs.StringVar(&f.sparse, "sparse", "", "sparse rows: the list columns `INDICES,VALUES[,D]` hold zero-based feature numbers and their values; absent is 0; D is the number of features")
	fs.Var(&f.missing, "missing", "nulls, NaN and infinities: error, drop-row, mean (fill with the column's mean over the whole input), zero")
	fs.Int64Var(&f.rows, "rows", 0, "quick try: only a seeded sample of `N` rows (0: all)")
	fs.Var(&f.onError, "on-error", "a file that cannot be read: fail, or skip-file (left out with a warning; a pass under way starts again)")
}

// check finds what no input can make right.
func (f *inputFlags) check() error {
	if f.rows < 0 {
		return stream.Usagef("--rows %d: want 0 (all) or more", f.rows)
	}
	if f.sparse != "" && len(f.columns)+len(f.exclude) > 0 {
		return stream.Usagef("--sparse takes all features of the lists; --columns and --exclude do not go with it")
	}
	return nil
}

// drawn is the number of rows to read, 0 for all: --rows and --sample draw the same
// rows, so that the smaller of the two counts.
func (f *inputFlags) drawn() int64 {
	if f.rows == 0 || f.sample == 0 {
		return max(f.rows, f.sample)
	}
	return min(f.rows, f.sample)
}

// policy is what the source does under --missing: the statistics fill, so mean
// and zero both read NaN.
func (f *inputFlags) policy() stream.MissingPolicy {
	switch f.missing.value {
	case "drop-row":
		return stream.MissingDropRow
	case "mean", "zero":
		return stream.MissingKeep
	}
	return stream.MissingError
}

// methodFlags say what is selected and how.
type methodFlags struct {
	method     string
	k          int
	variance   float64
	keep       []string
	scale      string
	partitions int
	graph      graphFlags
	rows       rowsFlags
}

func (f *methodFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.method, "method", "greedy", "selector: "+strings.Join(methodNames(), ", "))
	fs.IntVarP(&f.k, "k", "k", 0, "select `N` features (default: 50, or all if there are fewer)")
	fs.Float64Var(&f.variance, "variance", 0, "greedy: stop when this `SHARE` of the total is explained, as 0.95, in place of -k")
	fs.StringSliceVar(&f.keep, "keep", nil, "greedy: features that are in from the start (`GLOBS`: names or globs, comma-separated)")
	fs.StringVar(&f.scale, "scale", "", "none (raw), center, minmax, unit, standard (default: standard; eufs and hufs: unit; cpufs and cpufsnn: minmax; variance and random: none)")
	fs.IntVar(&f.partitions, "partitions", 0, "partgreedy: `C` random groups of features (default: 1 % of the features)")
	f.graph.add(fs)
	f.rows.add(fs)
}

// resolve checks the flags against the method's row and fills in its defaults.
// given tells which flags were set by the user.
func (f *methodFlags) resolve(given func(string) bool) (method, error) {
	m, err := findMethod(f.method)
	if err != nil {
		return m, err
	}
	switch {
	case given("k") && f.k < 1:
		return m, stream.Usagef("-k %d: want 1 or more", f.k)
	case given("variance") && !(f.variance > 0 && f.variance <= 1):
		return m, stream.Usagef("--variance %v: want a share above 0 and up to 1", f.variance)
	case given("variance") && given("k"):
		return m, stream.Usagef("--variance stops by itself; give it or -k, not both")
	case given("variance") && !m.stop:
		return m, stream.Usagef("--variance is not for method %s; use -k", m.name)
	case given("variance") && m.name == "graphgreedy":
		return m, stream.Usagef("--variance counts what is explained of the data, graphgreedy what is of the smoothed data; use -k")
	case len(f.keep) > 0 && !m.stop:
		return m, stream.Usagef("--keep is not for method %s, which ranks every feature by itself", m.name)
	case given("partitions") && m.name != "partgreedy":
		return m, stream.Usagef("--partitions is for method partgreedy only")
	case given("partitions") && f.partitions < 1:
		return m, stream.Usagef("--partitions %d: want 1 or more", f.partitions)
	}
	if err := f.graph.check(m, given); err != nil {
		return m, err
	}
	if err := f.rows.check(m, given); err != nil {
		return m, err
	}
	if err := f.checkPixels(m, given); err != nil {
		return m, err
	}
	if f.scale == "" {
		f.scale = m.scale
	}
	known := []string{"none", "center", "minmax", "unit", "standard"}
	if slices.Contains(known, f.scale) {
		if m.pixels && f.scale != "minmax" && f.scale != "none" {
			return m, stream.Usagef("--scale %s: the tensor model of %s takes no negative values and keeps the picture's proportions; want minmax, or none where no value is negative", f.scale, m.name)
		}
		return m, nil
	}
	return m, stream.Usagef("unknown scale %q (want %s)%s", f.scale, strings.Join(known, ", "), didYouMean(f.scale, known))
}

// limitFlags bound what a run may use.
type limitFlags struct {
	seed    uint64
	threads int
	memory  byteSize
}

func (f *limitFlags) add(fs *pflag.FlagSet) {
	f.memory = 2 << 30
	fs.Uint64Var(&f.seed, "seed", 1, "seed `N` of everything random")
	fs.IntVar(&f.threads, "threads", 0, "`N` worker threads (0: one for each core); never changes the result")
	fs.Var(&f.memory, "memory-limit", "peak resident memory, as 512MiB or 4GB; never changes the result")
}

// maxThreads is far above any use: the Go runtime takes minutes to set up a million.
const maxThreads = 1024

// apply checks the limits and hands them to the Go runtime until restore is called.
func (f *limitFlags) apply() (restore func(), err error) {
	if f.threads < 0 || f.threads > maxThreads {
		return nil, stream.Usagef("--threads %d: want 0 (one for each core) up to %d", f.threads, maxThreads)
	}
	if f.threads == 0 {
		f.threads = runtime.GOMAXPROCS(0)
	}
	threads := runtime.GOMAXPROCS(f.threads)
	limit := debug.SetMemoryLimit(max(int64(f.memory)-outsideHeap, 1<<20))
	percent := debug.SetGCPercent(collectPercent)
	return func() {
		runtime.GOMAXPROCS(threads)
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}, nil
}

// scratchFlags bound what a run may have on disk while it works: methods that iterate
// over rows, where these do not fit into memory.
type scratchFlags struct {
	dir  string
	most byteSize
}

func (f *scratchFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.dir, "temp-dir", "", "eufs, hufs, cpufs, cpufsnn: folder `DIR` for scratch files, used where the rows do not fit into memory (default: that of the system)")
	fs.Var(&f.most, "max-temp-size", "eufs, hufs, cpufs, cpufsnn: scratch space at most, as 100GiB (default: no bound)")
}

func (f *scratchFlags) check() error {
	if f.dir == "" {
		return nil
	}
	if fi, err := os.Stat(f.dir); err != nil || !fi.IsDir() {
		return &stream.OutputError{Path: f.dir, Err: errors.New("no such folder"), Remedy: stream.Textf("create it, or choose another --temp-dir")}
	}
	return nil
}

// byteSize is a flag in bytes: "512MiB", "4GB", "1000000".
type byteSize int64

// String, Set and Type implement pflag.Value.
func (b *byteSize) String() string {
	for _, u := range []struct {
		shift uint
		name  string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if n := int64(*b); n != 0 && n%(1<<u.shift) == 0 {
			return fmt.Sprintf("%d%s", n>>u.shift, u.name)
		}
	}
	return fmt.Sprint(int64(*b))
}

func (b *byteSize) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return fmt.Errorf("want a size such as 512MiB or 4GB")
	}
	*b = byteSize(n)
	return nil
}

func (b *byteSize) Type() string { return "size" }
