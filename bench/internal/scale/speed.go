package scale

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Settings of the method EUFS. Its sample of rows has the default size of the verb select. A few iterations are enough
// to measure all steps.
const eufsSample, eufsIterations, eufsClusters = 10_000, 5, 10

type speedRun struct {
	*scaleRun
	peaks         map[int]peakRates // by number of threads
	duckDBVersion string            // empty if DuckDB is not measured
}

func speedDefaults() *options {
	return &options{
		verb: "speed", rows: []string{"630000"}, columns: []string{"900"}, threads: []string{strconv.Itoa(runtime.NumCPU())},
		methods: []string{"variance", "greedy", "graphgreedy", "sfufs", "eufs"}, giveUp: 15 * time.Minute, generate: workshop.StartSelf,
		methodFlags: map[string][]string{"eufs": {
			"--sample", strconv.Itoa(eufsSample), "--max-iter", strconv.Itoa(eufsIterations), "--clusters", strconv.Itoa(eufsClusters),
		}},
	}
}

// NewSpeed returns the command speed.
func NewSpeed(c *cli.Shared) *cobra.Command {
	o := speedDefaults()
	cmd := &cobra.Command{
		Use:   "speed",
		Short: "Methods at the size of E-MNIST, beside bare reading and the arithmetic peak",
		Long: `Runs ufs-stream select with each method in turn with a bare reading of the same file, and with
one that decodes it as ufs-stream does and does nothing else, each a process of its own, on
generated images or on --data. Before the turns it measures how fast this machine multiplies; a
method's share of that peak rests on the operations of its large products, which go doc ./bench
and the summary state. Standard output has one line a process in Go's benchmark format, as it
comes; the folder --results gets them all (NAME.txt, for benchstat) and a summary (NAME.md).

  ufs-stream-bench speed
  ufs-stream-bench speed --rows 20000 --count 3 --results /tmp/results
  ufs-stream-bench speed --rows 20000 --older ./ufs-stream-0.1.0
  ufs-stream-bench speed --data emnist --label label --name speed-emnist
  ufs-stream-bench speed --data emnist-float64 --label label --name speed-float64
  npm ci --prefix bench/_duckdb && ufs-stream-bench speed --duckdb bench/_duckdb/duckdb.mjs`,
		Args: program.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.progress, o.command = c.RemarksWriter(), c.CommandLine()
			return o.runSpeed(cmd.Context(), c.Out)
		},
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.StringVar(&o.name, "name", "speed", "`NAME` of the results")
	f.StringVar(&o.duckDB, "duckdb", "", "also sum all columns by DuckDB, of which this `FILE` is the program, or bench/_duckdb/duckdb.mjs")
	f.StringVar(&o.older, "older", "", "also run this older ufs-stream `FILE` in each turn, and fail if a method has become slower by 10 %")
	f.IntVar(&o.anchors, "anchors", 2000, "`M` anchors for sfufs and graphgreedy")
	return cmd
}

func (o *options) runSpeed(ctx context.Context, out io.Writer) error {
	o.onceAbove = o.giveUp // every method is measured in more than one turn
	if err := o.validate(); err != nil {
		return err
	}
	if o.older != "" {
		older, err := filepath.Abs(o.older)
		if err == nil {
			_, err = exec.LookPath(older)
		}
		if err != nil {
			return stream.Usagef("speed: --older %s: %v", o.older, err)
		}
		o.older = older
	}
	if o.anchors < 1 {
		return stream.Usagef("speed: --anchors %d: want 1 or more", o.anchors)
	}
	if len(o.data) == 0 {
		o.label = gen.LabelName
		for _, columns := range o.columnCounts {
			if imageShape(int(columns)) == "" {
				return stream.Usagef("speed: --columns %d: want the pixels of an image, a product of two numbers from 8 to 1000", columns)
			}
		}
	}
	base, err := o.openWorkshop(ctx, out)
	if err != nil {
		return err
	}
	defer base.shop.Close()
	if err := base.shop.BuildDecode(ctx, o.decode); err != nil {
		return err
	}
	base.readers = append(base.readers, decoding)
	r := &speedRun{scaleRun: base, peaks: map[int]peakRates{}}
	if err := r.findDuckDB(ctx); err != nil {
		return err
	}
	fmt.Fprintf(r.out, "Unit GFLOP/s better=higher\n")
	for _, threads := range o.threadCounts {
		o.printRemark("measuring the arithmetic peak of %d threads", threads)
		p := measurePeak(int(threads))
		r.peaks[int(threads)] = p
		p.writeLines(r.out, int(threads))
	}
	if len(o.data) > 0 {
		err = r.measureInputs(ctx, o.dataName())
	} else {
		err = r.measureGenerated(ctx, imageData, r.rowCounts)
	}
	if err != nil {
		return err
	}
	var text bytes.Buffer
	r.writeSpeedSummary(&text)
	slower := r.compareWithOlder(&text)
	if err := r.writeLinesAndSummary(ctx, text.Bytes()); err != nil || len(slower) == 0 {
		return err
	}
	return fmt.Errorf("slower than %s by more than %d %%: %s", r.older, maxSlowdown, strings.Join(slower, "; "))
}

// maxSlowdown is the largest slowdown, in per cent, that is accepted of a method compared with --older.
const maxSlowdown = 10

// compareWithOlder writes a table that compares the methods with the older program, and returns the slower ones.
// Each figure is the median over the turns of the ratio within a turn.
func (r *speedRun) compareWithOlder(w io.Writer) (slower []string) {
	if r.older == "" {
		return nil
	}
	fmt.Fprintf(w, "\n## Beside the older program, %s\n", r.older)
	results.TableHead(w, []string{"data", "method", "threads", "older s", "this s", "× older"}, 2)
	for i, m := range r.results {
		if i == 0 || !m.older || r.results[i-1].method != m.method || len(r.results[i-1].turns) != len(m.turns) {
			continue
		}
		this := r.results[i-1]
		ratios := measuredPoint{turns: slices.Clone(this.turns)}
		for n := range ratios.turns {
			ratios.turns[n].read = m.turns[n].cost.Wall // compared with the older program in place of the reading
		}
		ratio := ratios.computeSpread(multipleOfReadTime)
		cell := ratio.formatCell(func(v float64) string { return fmt.Sprintf("%.3f", v) })
		results.TableRow(w, []string{
			m.data, m.method, fmt.Sprint(m.threads), m.computeSpread(wallSeconds).formatCell(results.FormatSeconds),
			this.computeSpread(wallSeconds).formatCell(results.FormatSeconds), cell,
		})
		if ratio.median > 1+maxSlowdown/100. {
			slower = append(slower, fmt.Sprintf("%s on %d threads takes × %s", m.method, m.threads, cell))
		}
	}
	return slower
}

// imageData generates images, whose pixels are whole numbers from 0 to 255 as in E-MNIST.
var imageData = generatedData{
	kind: "grid", name: "images", valueBytes: denseBytes,
	genFlags: func(s size) []string { return []string{"--shape", imageShape(s.columns)} },
}

// imageShape returns the shape of images with the given number of pixels that is nearest to a square. It returns "" if
// gen grid does not support any.
func imageShape(pixels int) string {
	for height := 1000; height >= 8; height-- {
		if width := pixels / height; width >= height && width <= 1000 && width*height == pixels {
			return fmt.Sprintf("%dx%d", height, width)
		}
	}
	return ""
}

// countOperations returns the number of additions and multiplications in the large matrix products of a method, as
// defined in bench/doc.go. It is 0 for variance, which has no such products, and for methods that are not listed there.
func countOperations(method string, s size, anchors int) float64 {
	n, d, m := float64(s.rows), float64(s.columns), float64(anchors)
	switch method {
	case "greedy":
		return n * d * d
	case "sfufs", "graphgreedy":
		return 2*n*m*d + n*d*d
	case "eufs":
		sample := min(n, eufsSample)
		return 2*sample*sample*d + eufsIterations*8*sample*d*eufsClusters
	}
	return 0
}

// findDuckDB adds DuckDB's sum to the measurements if --duckdb names a program that exists. Otherwise it reports that
// the sum is omitted.
func (r *speedRun) findDuckDB(ctx context.Context) error {
	if r.duckDB == "" {
		return nil
	}
	path, err := exec.LookPath(r.duckDB)
	if err != nil {
		r.recordSkip("DuckDB's sum: --duckdb %s is not installed: %v", r.duckDB, err)
		return nil
	}
	out, _, err := workshop.RunChild(ctx, path, duckDBArgs("SELECT version()")...)
	if err != nil {
		return err
	}
	r.duckDB, r.duckDBVersion = path, strings.TrimSpace(string(out))
	r.readers = append(r.readers, duckDBSum)
	return nil
}

func duckDBArgs(statements string) []string { return []string{"-csv", "-noheader", "-c", statements} }

func sumStatements(threads int, inputs []string, label string) string {
	var files []string
	for _, path := range inputs {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, "**", "*.parquet")
		}
		files = append(files, "'"+strings.ReplaceAll(path, "'", "''")+"'")
	}
	columns := "*"
	if label != "" {
		columns = `* EXCLUDE ("` + strings.ReplaceAll(label, `"`, `""`) + `")`
	}
	return fmt.Sprintf("SET threads = %d; SELECT sum(COLUMNS(%s)) FROM read_parquet([%s])", threads, columns, strings.Join(files, ", "))
}
