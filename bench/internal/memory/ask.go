package memory

import (
	"cmp"
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
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

type runResult struct {
	table, run    string
	limit         int64 // limit of the run in bytes: the limit that the program named, times --times; 0 if the run has no limit
	limitsNamed   int   // how many times the program named a limit
	plannedPeak   int64 // peak that the verb plan predicts for this limit; 0 if plan does not support the run
	peak          int64 // measured peak
	wallTime      time.Duration
	notDoneReason string // why the run was not done; empty if it was done
}

func (p runResult) String() string {
	if p.notDoneReason != "" {
		return fmt.Sprintf("%s: %s: %s", p.table, p.run, p.notDoneReason)
	}
	return fmt.Sprintf("%s: %s: %s of %s MiB, %s", p.table, p.run, formatMebibytes(p.peak), formatMebibytes(p.limit), p.wallTime.Round(time.Second/10))
}

func (p runResult) isOverLimit() bool {
	return p.notDoneReason == "" && p.limit > 0 && p.peak > p.limit
}

// hasFailed reports whether the run failed. A run that was given up, or refused because it does not suit the data, has
// not failed.
func (p runResult) hasFailed() bool { return strings.HasPrefix(p.notDoneReason, "failed") }

// maxLimitsNamed is the largest number of times that a run is started again with a limit that it has named. Usually one
// such limit is enough. But a run may first read a selection or statistics, find that it needs more memory, and name
// another limit.
const maxLimitsNamed = 10

var namedLimit = regexp.MustCompile(`raise it: --memory-limit (\d+)MiB`)

// findLimit finds the smallest limit that the program itself names for a job, and runs the job with --times times this
// limit.
func (o *options) findLimit(ctx context.Context, shop *workshop.Workshop, s *shape, j job, dir string) (runResult, error) {
	p := runResult{table: s.name, run: j.name}
	for _, file := range j.needs {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			p.notDoneReason = "left out: the run that makes " + file + " was not done"
			return p, nil
		}
	}
	args := slices.Concat([]string{j.verb}, j.args)
	if !slices.Contains(args, "-o") {
		end := cmp.Or(j.output, ".json")
		out := filepath.Join(dir, "out"+end)
		defer os.RemoveAll(out)
		args = append(args, "-o", out)
	}
	if i := slices.Index(args, firstName); i >= 0 {
		name, err := readFirstSelectedName(filepath.Join(dir, selectionFile))
		if err != nil {
			return p, err
		}
		args[i] = name
	}
	if j.limited {
		p.limit = mebibyte
	}
	for raised := false; ; p.limitsNamed++ {
		took, err := o.runOnce(ctx, shop.Program, args, p.limit)
		if err == nil {
			if o.times > 1 && j.limited && !raised {
				raised, p.limit = true, int64(o.times*float64(p.limit))
				p.limitsNamed-- // the program did not refuse this limit; it runs again with a larger one
				continue
			}
			p.peak, p.wallTime = took.Peak, took.Wall
			p.plannedPeak = askPlannedPeak(ctx, shop, j, p.limit)
			return p, nil
		}
		var child *workshop.ChildError
		switch {
		case ctx.Err() != nil:
			return p, ctx.Err()
		case !errors.As(err, &child):
			return p, err
		case child.TimedOut:
			p.notDoneReason = fmt.Sprintf("given up after %s at %s MiB", o.giveUp, formatMebibytes(p.limit))
			return p, nil
		case child.Code == exit.Usage:
			p.notDoneReason = "refused: " + errorLine(child.Stderr)
			return p, nil
		case child.Code != exit.Memory:
			p.notDoneReason = fmt.Sprintf("failed at %s MiB with exit code %d: %s", formatMebibytes(p.limit), child.Code, errorLine(child.Stderr))
			return p, nil
		}
		named := namedLimit.FindStringSubmatch(child.Stderr)
		if named == nil || p.limitsNamed == maxLimitsNamed {
			p.notDoneReason = fmt.Sprintf("failed at %s MiB, after %d limits: %s", formatMebibytes(p.limit), p.limitsNamed+1, errorLine(child.Stderr))
			return p, nil
		}
		next, err := strconv.ParseInt(named[1], 10, 64)
		if err != nil || next*mebibyte <= p.limit {
			p.notDoneReason = fmt.Sprintf("failed: at %s MiB it names %s MiB: %s", formatMebibytes(p.limit), named[1], errorLine(child.Stderr))
			return p, nil
		}
		p.limit = next * mebibyte
	}
}

func (o *options) runOnce(ctx context.Context, program string, args []string, limit int64) (workshop.Cost, error) {
	ctx, cancel := context.WithTimeout(ctx, o.giveUp)
	defer cancel()
	if limit > 0 {
		args = slices.Concat(args, []string{"--memory-limit", formatMebibytes(limit) + "MiB"})
	}
	_, took, err := workshop.RunChild(ctx, program, append(args, "--progress", "off")...)
	return took, err
}

func askPlannedPeak(ctx context.Context, shop *workshop.Workshop, j job, limit int64) int64 {
	if j.verb != "select" || slices.Contains(j.args, "--stats") {
		return 0
	}
	args := slices.Concat(j.args, []string{"--memory-limit", formatMebibytes(limit) + "MiB"})
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

func readFirstSelectedName(path string) (string, error) {
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

func errorLine(errorOutput string) string {
	lines := strings.Split(strings.TrimSpace(errorOutput), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "ufs-stream: ") {
			return strings.TrimPrefix(line, "ufs-stream: ")
		}
	}
	return lines[len(lines)-1]
}
