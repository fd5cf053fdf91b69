package manifests

import (
	"context"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// container is what a scheduler starts: the program with arguments, and nothing in its
// environment but what the scheduler puts there.
type container struct{ args, env []string }

// blow is what a machine does to a container: kill it, or ask it to end.
type blow struct {
	signal  syscall.Signal
	drained bool // the node is drained, which Kubernetes tells by a condition of the pod
}

// run runs the container as a process, and strikes it as soon as it has started.
func (c container) run(ctx context.Context, t testing.TB, strike *blow) (code int, said string) {
	path := must.Get(program())(t)
	cmd := exec.CommandContext(ctx, path, c.args...)
	cmd.Env = append([]string{"TMPDIR=" + t.TempDir()}, c.env...)
	out := &text{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return 128, err.Error()
	}
	if strike != nil {
		_ = cmd.Process.Signal(strike.signal) // it cannot have ended yet; the code tells
	}
	_ = cmd.Wait() // the state tells more
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), out.String()
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// text is written by several processes.
type text struct {
	mu   sync.Mutex
	text []byte
}

func (w *text) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b...)
	return len(b), nil
}

func (w *text) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}

// try is one run of a step of a job: of one index, or of all where it has none.
type try struct {
	job, index, container string
	code                  int
	said                  string
}

// tries are kept in the order of their ends.
type tries struct {
	mu  sync.Mutex
	all []try
}

func (l *tries) add(one try) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, one)
}

// of counts the tries of a job by index, and returns their exit codes in order.
func (l *tries) of(job string) map[string][]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	codes := map[string][]int{}
	for _, one := range l.all {
		if one.job == job {
			codes[one.index] = append(codes[one.index], one.code)
		}
	}
	return codes
}

// last is the text of the last try of an index of a job.
func (l *tries) last(job, index string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	said := ""
	for _, one := range l.all {
		if one.job == job && one.index == index {
			said = one.said
		}
	}
	return said
}
