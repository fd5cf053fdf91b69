package main

import (
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

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// scaleRun is a run of scale under way.
type scaleRun struct {
	*scaleOptions
	shop    *workshop
	out     io.Writer // benchmark lines as they come
	results []measured
	skipped []string // what was left out, and why
}

// planted measures every size on data made for it.
func (r *scaleRun) planted(ctx context.Context) error {
	kept, left := sizes(r.rowCounts, r.columnCounts, int64(r.maxBytes))
	for _, s := range left {
		r.skip("%s: their values take more than --max-bytes %s", s, r.maxBytes.String())
	}
	for _, s := range kept {
		if err := r.plantedSize(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// plantedSize takes the data of --dir if it is there, in a folder of its own, or makes
// it and removes it again: what an interrupted run has not finished never stays.
func (r *scaleRun) plantedSize(ctx context.Context, s size) (err error) {
	dir := r.dir
	if dir == "" {
		dir = r.shop.dir
	}
	dir = filepath.Join(dir, fmt.Sprintf("planted-%d-%d-%d", s.rows, s.columns, r.seed))
	path := filepath.Join(dir, "planted.parquet")
	if _, err := os.Stat(path); err != nil {
		made := false
		defer func() {
			if !made || !r.keep {
				os.RemoveAll(dir)
			}
		}()
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return &stream.OutputError{Path: dir, Err: err}
		}
		r.say("%s: making the data", s)
		if err := r.generate(ctx, plantedArgs(path, s, r.seed)); err != nil {
			return err
		}
		made = true
	}
	return r.measure(ctx, "", s, []string{path})
}

// plantedArgs are the arguments of this program that make the data of a size.
func plantedArgs(path string, s size, seed uint64) []string {
	return []string{
		"gen", "planted", "--type", "float", "--rows", strconv.FormatInt(s.rows, 10), "--columns", strconv.Itoa(s.columns),
		"--seed", strconv.FormatUint(seed, 10), "-o", path, "-q",
	}
}

// startSelf starts this very program, so that what it needs of memory is not ours.
func startSelf(ctx context.Context, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_, _, err = child(ctx, self, args...)
	return err
}

// measure takes turns at one dataset: in each, for every number of threads, the bare
// reading and then every method, so that the machine's moods hit all of them. The first
// bare reading of all is not counted: it brings the file into memory, where it fits.
func (r *scaleRun) measure(ctx context.Context, data string, s size, inputs []string) error {
	if _, err := r.bare(ctx, 1, inputs); err != nil {
		return err
	}
	var points []measured
	for _, threads := range r.threadCounts {
		for _, method := range append([]string{bareReading}, r.methods...) {
			points = append(points, measured{point: point{data, s, method, int(threads)}})
		}
	}
	for n := range r.count {
		r.say("%s%s: turn %d of %d", strings.TrimPrefix(data+": ", ": "), s, n+1, r.count)
		var read time.Duration // of this turn, on as many threads
		for i := range points {
			p := &points[i]
			if p.ended {
				continue
			}
			t, err := r.turn(ctx, p.point, inputs)
			if p.method == bareReading {
				read = t.cost.Wall
			}
			switch why := r.finding(ctx, err); {
			case why != "":
				r.skip("%s: %s", p.name(), why)
				p.ended = true
				continue
			case err != nil:
				return err
			}
			t.read = read
			p.turns = append(p.turns, t)
			writeTurn(r.out, p.point, t)
			if p.method != bareReading && t.cost.Wall > r.onceAbove && r.count > n+1 {
				r.skip("%s: turns after this one, of more than --once-above %s", p.name(), r.onceAbove)
				p.ended = true
			}
		}
	}
	r.results = append(r.results, slices.DeleteFunc(points, func(p measured) bool { return len(p.turns) == 0 })...)
	return nil
}

// finding says why a turn that failed is a finding about its point and not a fault, or "".
func (r *scaleRun) finding(ctx context.Context, err error) string {
	var step *stepError
	switch {
	case !errors.As(err, &step) || ctx.Err() != nil:
		return ""
	case step.code == exit.Memory:
		lines := strings.Split(strings.TrimSpace(step.stderr), "\n")
		return lines[len(lines)-1]
	case step.late:
		return fmt.Sprintf("it took more than --give-up %s", r.giveUp)
	}
	return ""
}

// turn is one process at a point.
func (r *scaleRun) turn(ctx context.Context, p point, inputs []string) (turn, error) {
	ctx, cancel := context.WithTimeout(ctx, r.giveUp)
	defer cancel()
	if p.method == bareReading {
		return r.bare(ctx, p.threads, inputs)
	}
	sel, took, err := r.shop.selecting(ctx, slices.Concat(inputs, r.selectFlags(p.method), []string{"--threads", strconv.Itoa(p.threads)})...)
	return turn{cost: took, timing: sel.Timing}, err
}

func (r *scaleRun) bare(ctx context.Context, threads int, inputs []string) (turn, error) {
	_, took, err := child(ctx, r.shop.bare, append([]string{strconv.Itoa(threads)}, inputs...)...)
	return turn{cost: took}, err
}

// selectFlags are the flags of a method, but for --threads.
func (r *scaleOptions) selectFlags(method string) []string {
	flags := []string{"--method", method, "--seed", strconv.FormatUint(r.seed, 10)}
	for _, f := range [][2]string{{"-k", r.k}, {"--label", r.label}, {"--memory-limit", r.memoryLimit}} {
		if f[1] != "" {
			flags = append(flags, f[0], f[1])
		}
	}
	if r.anchors > 0 && !slices.Contains([]string{"greedy", "partgreedy", "variance", "random"}, method) {
		flags = append(flags, "--anchors", strconv.Itoa(r.anchors))
	}
	return flags
}

func (r *scaleRun) skip(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.skipped = append(r.skipped, text)
	r.say("skipped: %s", text)
}

func (r *scaleOptions) say(format string, args ...any) {
	fmt.Fprintf(r.progress, "scale: "+format+"\n", args...)
}
