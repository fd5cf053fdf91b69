package kill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
)

type jobResult struct {
	name      string
	aloneCost workshop.Cost // cost of a run that is not killed
	kills     int
	runs      int           // number of finished runs, each after some kills
	cpu       time.Duration // processor time of all processes of these runs
	faults    []string
}

func (p jobResult) String() string {
	return fmt.Sprintf("%s: %d kills of %d runs of %.1f s, %.2f of a run again for a kill, %d faults", p.name, p.kills, p.runs, p.aloneCost.Wall.Seconds(), p.repeatedShare(), len(p.faults))
}

// repeatedShare returns how much work is repeated after a kill, as a share of the work of one run. Work is measured in
// processor time, because other programs on the machine affect it less than elapsed time.
func (p jobResult) repeatedShare() float64 {
	return (p.cpu - time.Duration(p.runs)*p.aloneCost.CPU).Seconds() / float64(max(p.kills, 1)) / p.aloneCost.CPU.Seconds()
}

func (o *options) killRepeatedly(ctx context.Context, j job) (jobResult, error) {
	p := jobResult{name: j.name}
	state := j.out + ".state"
	args := slices.Concat([]string{j.verb}, j.args, []string{"-o", j.out, "--progress", "off"})
	if !j.folder {
		args = append(args, "--checkpoint", state, "--checkpoint-every", o.every.String())
	}
	if err := removePaths(j.out, state); err != nil {
		return p, err
	}
	var err error
	if _, p.aloneCost, err = workshop.RunChild(ctx, o.shop.Program, args...); err != nil {
		return p, err
	}
	want, err := readOutput(j.out)
	if err != nil {
		return p, err
	}
	for p.kills < o.kills {
		if err := removePaths(j.out, state); err != nil {
			return p, err
		}
		for done := false; !done; {
			moment := time.Duration(o.random.Float64() * float64(p.aloneCost.Wall))
			cpu, ended, err := o.runAndKill(ctx, args, moment)
			if err != nil {
				return p, err
			}
			p.cpu += cpu
			if ended != nil {
				p.kills++
			}
			// If an output folder exists, it is complete, even if the run was killed before it could report success.
			// Repeating the command would then fail, as it does after a successful run.
			done = ended == nil || j.folder && pathExists(j.out)
			if failed := (*failure)(nil); errors.As(ended, &failed) {
				p.faults = append(p.faults, fmt.Sprintf("started again after kill %d it failed: %s", p.kills-1, failed))
				break
			}
			if fault := describeDifference(j.out, want, done); fault != "" {
				p.faults = append(p.faults, fmt.Sprintf("after kill %d: %s", p.kills, fault))
				done = true
			}
		}
		p.runs++
		if left := listLeftoverFiles(j.out, state); len(left) > 0 {
			p.faults = append(p.faults, fmt.Sprintf("after kill %d and the run that ended well there is still %s", p.kills, strings.Join(left, ", ")))
		}
	}
	return p, nil
}

// failure is the error of a run that failed without being killed.
type failure struct{ said string }

func (f *failure) Error() string { return f.said }

var errKilled = errors.New("killed")

// runAndKill starts the program and kills it after the duration moment, if it still runs. ended is nil if the program
// has ended successfully, and errKilled if it was killed.
func (o *options) runAndKill(ctx context.Context, args []string, moment time.Duration) (cpu time.Duration, ended, err error) {
	cmd := exec.CommandContext(ctx, o.shop.Program, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	timer := time.AfterFunc(moment, func() { _ = cmd.Process.Kill() }) // an error means that the program has already ended
	defer timer.Stop()
	waited := cmd.Wait()
	if ctx.Err() != nil {
		return 0, nil, ctx.Err()
	}
	s := cmd.ProcessState
	cpu = s.UserTime() + s.SystemTime()
	switch {
	case waited == nil:
		return cpu, nil, nil
	case s.ExitCode() == -1:
		return cpu, errKilled, nil
	}
	return cpu, &failure{fmt.Sprintf("exit code %d: %s", s.ExitCode(), strings.TrimSpace(said.String()))}, nil
}

func pathExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func readOutput(out string) (map[string]string, error) {
	files := make(map[string]string)
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && filepath.Ext(path) == ".json" {
			b, err = withoutTiming(b)
		}
		files[strings.TrimPrefix(path, out)] = string(b)
		return err
	})
	return files, err
}

func withoutTiming(jsonText []byte) ([]byte, error) {
	var sel map[string]json.RawMessage
	if err := json.Unmarshal(jsonText, &sel); err != nil {
		return nil, err
	}
	delete(sel, "timing")
	delete(sel, "memory")
	return json.Marshal(sel)
}

// describeDifference compares the files of the output at the path `out` with the expected files. It returns "" if they
// agree. Unless done is set, the output may also be missing.
func describeDifference(out string, want map[string]string, done bool) string {
	got, err := readOutput(out)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !done:
		return ""
	case err != nil:
		return err.Error()
	case len(got) != len(want):
		return fmt.Sprintf("%d files at the output's place, want %d", len(got), len(want))
	}
	for name, text := range want {
		if got[name] != text {
			return fmt.Sprintf("%s differs from that of a run without a kill", filepath.Base(out)+name)
		}
	}
	return ""
}

func listLeftoverFiles(out, checkpointFolder string) []string {
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".*.ufs-tmp"))
	if entries, _ := os.ReadDir(checkpointFolder); len(entries) > 0 {
		left = append(left, checkpointFolder)
	}
	return left
}

func removePaths(paths ...string) error {
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}
