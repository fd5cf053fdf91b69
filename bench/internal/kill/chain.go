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

// point is what is found about one kind of run.
type point struct {
	name   string
	alone  workshop.Cost // of the run without a kill
	kills  int
	runs   int           // that came to their end, each after some kills
	cpu    time.Duration // of all processes of these runs
	faults []string
}

func (p point) String() string {
	return fmt.Sprintf("%s: %d kills of %d runs of %.1f s, %.2f of a run again for a kill, %d faults", p.name, p.kills, p.runs, p.alone.Wall.Seconds(), p.repeated(), len(p.faults))
}

// repeated is the work that was done again for a kill, as a share of one run: processor time, which
// other programs on the machine change less than the time of day.
func (p point) repeated() float64 {
	return (p.cpu - time.Duration(p.runs)*p.alone.CPU).Seconds() / float64(max(p.kills, 1)) / p.alone.CPU.Seconds()
}

// torment kills a run again and again.
func (o *options) torment(ctx context.Context, j job) (point, error) {
	p := point{name: j.name}
	state := j.out + ".state"
	args := slices.Concat([]string{j.verb}, j.args, []string{"-o", j.out, "--progress", "off"})
	if !j.folder {
		args = append(args, "--checkpoint", state, "--checkpoint-every", o.every.String())
	}
	if err := remove(j.out, state); err != nil {
		return p, err
	}
	var err error
	if _, p.alone, err = workshop.Child(ctx, o.shop.Program, args...); err != nil {
		return p, err
	}
	want, err := contents(j.out)
	if err != nil {
		return p, err
	}
	for p.kills < o.kills {
		if err := remove(j.out, state); err != nil {
			return p, err
		}
		for done := false; !done; {
			moment := time.Duration(o.random.Float64() * float64(p.alone.Wall))
			cpu, ended, err := o.killed(ctx, args, moment)
			if err != nil {
				return p, err
			}
			p.cpu += cpu
			if ended != nil {
				p.kills++
			}
			// A folder that stands is whole, even if the run was killed before it could say so: the same command
			// would refuse to write there again, as it does after a run that ended well.
			done = ended == nil || j.folder && stands(j.out)
			if said := (*failure)(nil); errors.As(ended, &said) {
				p.faults = append(p.faults, fmt.Sprintf("started again after kill %d it failed: %s", p.kills-1, said))
				break
			}
			if fault := compare(j.out, want, done); fault != "" {
				p.faults = append(p.faults, fmt.Sprintf("after kill %d: %s", p.kills, fault))
				done = true
			}
		}
		p.runs++
		if left := leftovers(j.out, state); len(left) > 0 {
			p.faults = append(p.faults, fmt.Sprintf("after kill %d and the run that ended well there is still %s", p.kills, strings.Join(left, ", ")))
		}
	}
	return p, nil
}

// failure is a run that ended by itself, and not well.
type failure struct{ said string }

func (f *failure) Error() string { return f.said }

// errKilled is a run that was killed.
var errKilled = errors.New("killed")

// killed runs the program and kills it at a moment. ended is nil where it was done before.
func (o *options) killed(ctx context.Context, args []string, moment time.Duration) (cpu time.Duration, ended, err error) {
	cmd := exec.CommandContext(ctx, o.shop.Program, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	timer := time.AfterFunc(moment, func() { _ = cmd.Process.Kill() }) // it may have ended
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

func stands(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// contents are the files of an output by their path in it, without what tells of time and memory.
func contents(out string) (map[string]string, error) {
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

func withoutTiming(b []byte) ([]byte, error) {
	var sel map[string]json.RawMessage
	if err := json.Unmarshal(b, &sel); err != nil {
		return nil, err
	}
	delete(sel, "timing")
	delete(sel, "memory")
	return json.Marshal(sel)
}

// compare says how what stands at the output's place differs from what is wanted there. There may be
// nothing only where the run is not done.
func compare(out string, want map[string]string, done bool) string {
	got, err := contents(out)
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

// leftovers are the files beside an output that a run left: of its state, and temporary ones.
func leftovers(out, state string) []string {
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".*.ufs-tmp"))
	if entries, _ := os.ReadDir(state); len(entries) > 0 {
		left = append(left, state)
	}
	return left
}

// remove removes an output and its state.
func remove(paths ...string) error {
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}
