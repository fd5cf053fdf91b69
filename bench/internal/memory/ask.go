package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/exit"
)

// point is what is found about a run.
type point struct {
	table, what string
	limit       int64 // the smallest that the program named, in bytes; 0: it has none
	asked       int   // how often it named one
	planned     int64 // the peak that plan foretells at that limit; 0: plan knows no such run
	peak        int64 // measured
	took        time.Duration
	ended       string // why it is not done; "" where it is
}

func (p point) String() string {
	if p.ended != "" {
		return fmt.Sprintf("%s: %s: %s", p.table, p.what, p.ended)
	}
	return fmt.Sprintf("%s: %s: %s of %s MiB, %s", p.table, p.what, mebibytes(p.peak), mebibytes(p.limit), p.took.Round(time.Second/10))
}

// over says whether the run broke its promise.
func (p point) over() bool { return p.ended == "" && p.limit > 0 && p.peak > p.limit }

// failed says whether the run ended as none should: neither done, nor refused as not for such data,
// nor given up.
func (p point) failed() bool { return strings.HasPrefix(p.ended, "failed") }

// mostAsked bounds how often a run is tried with the next limit. One refusal should be enough; a
// run that first reads what it rests on may learn more and refuse again.
const mostAsked = 10

var namedLimit = regexp.MustCompile(`raise it: --memory-limit (\d+)MiB`)

// ask runs a job with the limit that it names itself, or so many times that.
func (o *options) ask(ctx context.Context, shop *workshop.Workshop, s *shape, j job, dir string) (point, error) {
	p := point{table: s.name, what: j.what}
	for _, file := range j.needs {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			p.ended = "left out: the run that makes " + file + " was not done"
			return p, nil
		}
	}
	args := slices.Concat([]string{j.verb}, j.args)
	if !slices.Contains(args, "-o") {
		end := j.output
		if end == "" {
			end = ".json"
		}
		out := filepath.Join(dir, "out"+end)
		defer os.RemoveAll(out)
		args = append(args, "-o", out)
	}
	if i := slices.Index(args, firstName); i >= 0 {
		name, err := firstChosen(filepath.Join(dir, selectionFile))
		if err != nil {
			return p, err
		}
		args[i] = name
	}
	if j.limited {
		p.limit = mebibyte
	}
	for raised := false; ; p.asked++ {
		took, err := o.once(ctx, shop.Program, args, p.limit)
		if err == nil {
			if o.times > 1 && j.limited && !raised {
				raised, p.limit = true, int64(o.times*float64(p.limit))
				p.asked-- // this is no refusal
				continue
			}
			p.peak, p.took = took.Peak, took.Wall
			p.planned = planned(ctx, shop, j, p.limit)
			return p, nil
		}
		var child *workshop.ChildError
		switch {
		case ctx.Err() != nil:
			return p, ctx.Err()
		case !errors.As(err, &child):
			return p, err
		case child.TimedOut:
			p.ended = fmt.Sprintf("given up after %s at %s MiB", o.giveUp, mebibytes(p.limit))
			return p, nil
		case child.Code == exit.Usage:
			p.ended = "refused: " + lastLine(child.Stderr)
			return p, nil
		case child.Code != exit.Memory:
			p.ended = fmt.Sprintf("failed at %s MiB with exit code %d: %s", mebibytes(p.limit), child.Code, lastLine(child.Stderr))
			return p, nil
		}
		named := namedLimit.FindStringSubmatch(child.Stderr)
		if named == nil || p.asked == mostAsked {
			p.ended = fmt.Sprintf("failed at %s MiB, after %d limits: %s", mebibytes(p.limit), p.asked+1, lastLine(child.Stderr))
			return p, nil
		}
		next, err := strconv.ParseInt(named[1], 10, 64)
		if err != nil || next*mebibyte <= p.limit {
			p.ended = fmt.Sprintf("failed: at %s MiB it names %s MiB: %s", mebibytes(p.limit), named[1], lastLine(child.Stderr))
			return p, nil
		}
		p.limit = next * mebibyte
	}
}

// once runs the program once.
func (o *options) once(ctx context.Context, program string, args []string, limit int64) (workshop.Cost, error) {
	ctx, cancel := context.WithTimeout(ctx, o.giveUp)
	defer cancel()
	if limit > 0 {
		args = slices.Concat(args, []string{"--memory-limit", mebibytes(limit) + "MiB"})
	}
	_, took, err := workshop.Child(ctx, program, append(args, "--progress", "off")...)
	return took, err
}

// planned is the peak that plan foretells of a run of select over data, or 0.
func planned(ctx context.Context, shop *workshop.Workshop, j job, limit int64) int64 {
	if j.verb != "select" || slices.Contains(j.args, "--stats") {
		return 0
	}
	args := slices.Concat(j.args, []string{"--memory-limit", mebibytes(limit) + "MiB"})
	if i := slices.Index(args, "-o"); i >= 0 {
		args = slices.Delete(args, i, i+2)
	}
	var plan struct {
		Memory struct {
			Peak int64 `json:"peak_bytes"`
		} `json:"memory"`
	}
	if _, err := shop.RunJSON(ctx, &plan, "plan", args...); err != nil {
		return 0
	}
	return plan.Memory.Peak
}

// firstChosen is the first name of a selection.
func firstChosen(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var sel struct {
		Features []struct {
			Name string `json:"name"`
		} `json:"selected"`
	}
	if err := json.Unmarshal(b, &sel); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if len(sel.Features) == 0 {
		return "", fmt.Errorf("%s: nothing is selected", path)
	}
	return sel.Features[0].Name, nil
}

// lastLine is the last line of what a child said, where its error is.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "ufs-stream: ") {
			return strings.TrimPrefix(line, "ufs-stream: ")
		}
	}
	return lines[len(lines)-1]
}
