package scale

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// scaleRun holds the state of one run of scale or speed.
type scaleRun struct {
	*options
	shop    *workshop.Workshop
	out     io.Writer    // receives each benchmark line as soon as it is measured
	lines   bytes.Buffer // all benchmark lines
	readers []string     // programs that run before the methods: bareReading, perhaps decoding and duckDBSum
	results []measuredPoint
	skipped []string // sentences about measurements that were omitted, with reasons
}

func (r *scaleRun) measureGenerated(ctx context.Context, m generatedData, rows []int64) error {
	fitting, tooLarge := m.splitSizes(rows, r.columnCounts, int64(r.maxBytes))
	for _, s := range tooLarge {
		r.recordSkip("%s: their values take more than --max-bytes %s", s, r.maxBytes.String())
	}
	for _, s := range fitting {
		if err := r.measureSize(ctx, m, s); err != nil {
			return err
		}
	}
	return nil
}

// measureSize measures on data of one size. It uses the data in --dir if they exist. Otherwise it makes the data, and
// removes them afterwards. With --keep it removes them only if they are incomplete.
func (r *scaleRun) measureSize(ctx context.Context, m generatedData, s size) error {
	dir := cmp.Or(r.dir, r.shop.Dir)
	dir = filepath.Join(dir, fmt.Sprintf("%s-%d-%d-%d", m.kind, s.rows, s.columns, r.seed))
	path := filepath.Join(dir, m.kind+".parquet")
	if _, err := os.Stat(path); err != nil {
		complete := false
		defer func() {
			if !complete || !r.keep {
				os.RemoveAll(dir)
			}
		}()
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return &stream.OutputError{Path: dir, Err: err}
		}
		r.printRemark("%s: making the data", s)
		if err := r.generate(ctx, m.genArgs(path, s, r.seed)); err != nil {
			return err
		}
		complete = true
	}
	var flags []string
	if m.readFlags != nil {
		flags = m.readFlags(s)
	}
	return r.measureDataset(ctx, m.name, s, []string{path}, flags)
}

// measureDataset measures on one dataset in turns. In each turn it runs, for every number of threads, the readers and
// then every method, so that changes in the machine's speed affect all of them alike. Before the first turn bareread
// reads the files once, so that they are in memory if they fit. flags are flags of select for this data.
func (r *scaleRun) measureDataset(ctx context.Context, data string, s size, inputs, flags []string) error {
	if _, err := r.runReader(ctx, r.shop.Bare, 1, inputs); err != nil {
		return err
	}
	var points []measuredPoint
	for _, threads := range r.threadCounts {
		for _, method := range slices.Concat(r.readers, r.methods) {
			p := point{data: data, size: s, method: method, threads: int(threads)}
			points = append(points, measuredPoint{point: p})
			if p.older = r.older != "" && p.runsSelect(); p.older {
				points = append(points, measuredPoint{point: p})
			}
		}
	}
	for n := range r.count {
		r.printRemark("%s%s: turn %d of %d", strings.TrimPrefix(data+": ", ": "), s, n+1, r.count)
		var read time.Duration // time of the latest run of bareread, with as many threads
		for i := range points {
			p := &points[i]
			if p.stopped {
				continue
			}
			t, err := r.runTurn(ctx, p.point, inputs, flags)
			if p.method == bareReading {
				read = t.cost.Wall
			}
			switch reason := r.reasonToSkip(ctx, err); {
			case reason != "":
				r.recordSkip("%s: %s", p.benchmarkName(), reason)
				p.stopped = true
				continue
			case err != nil:
				return err
			}
			t.read = read
			p.turns = append(p.turns, t)
			writeTurn(r.out, p.point, t)
			if p.method != bareReading && t.cost.Wall > r.onceAbove && r.count > n+1 {
				r.recordSkip("%s: turns after this one, of more than --once-above %s", p.benchmarkName(), r.onceAbove)
				p.stopped = true
			}
		}
	}
	r.results = append(r.results, slices.DeleteFunc(points, func(p measuredPoint) bool { return len(p.turns) == 0 })...)
	return nil
}

// reasonToSkip explains a failure after which only this point is omitted. It returns "" if the whole run has to stop.
func (r *scaleRun) reasonToSkip(ctx context.Context, err error) string {
	var failed *workshop.ChildError
	switch {
	case !errors.As(err, &failed) || ctx.Err() != nil:
		return ""
	case failed.Code == exit.Memory:
		lines := strings.Split(strings.TrimSpace(failed.Stderr), "\n")
		return lines[len(lines)-1]
	case failed.TimedOut:
		return fmt.Sprintf("it took more than --give-up %s", r.giveUp)
	}
	return ""
}

func (r *scaleRun) runTurn(ctx context.Context, p point, inputs, flags []string) (turnResult, error) {
	ctx, cancel := context.WithTimeout(ctx, r.giveUp)
	defer cancel()
	switch p.method {
	case bareReading:
		return r.runReader(ctx, r.shop.Bare, p.threads, inputs)
	case decoding:
		return r.runReader(ctx, r.shop.Decode, p.threads, inputs)
	case duckDBSum:
		_, took, err := workshop.RunChild(ctx, r.duckDB, duckDBArgs(sumStatements(p.threads, inputs, r.label))...)
		return turnResult{cost: took}, err
	}
	shop := *r.shop
	if p.older {
		shop.Program = r.older
	}
	sel, took, err := shop.RunSelect(ctx, slices.Concat(inputs, flags, r.selectFlags(p.method), []string{"--threads", strconv.Itoa(p.threads)})...)
	return turnResult{cost: took, timing: sel.Timing}, err
}

func (r *scaleRun) runReader(ctx context.Context, program string, threads int, inputs []string) (turnResult, error) {
	_, took, err := workshop.RunChild(ctx, program, append([]string{strconv.Itoa(threads)}, inputs...)...)
	return turnResult{cost: took}, err
}

func (o *options) selectFlags(method string) []string {
	flags := []string{"--method", method, "--seed", strconv.FormatUint(o.seed, 10)}
	for _, f := range [][2]string{{"-k", o.k}, {"--label", o.label}, {"--memory-limit", o.memoryLimit}} {
		if f[1] != "" {
			flags = append(flags, f[0], f[1])
		}
	}
	if o.anchors > 0 && !slices.Contains([]string{"greedy", "partgreedy", "variance", "random"}, method) {
		flags = append(flags, "--anchors", strconv.Itoa(o.anchors))
	}
	return append(flags, o.methodFlags[method]...)
}

func (r *scaleRun) recordSkip(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.skipped = append(r.skipped, text)
	r.printRemark("skipped: %s", text)
}

func (o *options) printRemark(format string, args ...any) {
	fmt.Fprintf(o.progress, o.verb+": "+format+"\n", args...)
}
