//go:build unix

package program

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

const stubbornEnv = "UFS_TEST_STUBBORN"

// TestStubbornChild is the process that TestSecondSignal ends: it hears the first signal, and then
// saves something for ever.
func TestStubbornChild(t *testing.T) {
	if os.Getenv(stubbornEnv) == "" {
		return
	}
	Main(func(ctx context.Context, _ []string, _ io.Reader, out, _ io.Writer) int {
		fmt.Fprintln(out, "started")
		<-ctx.Done()
		fmt.Fprintln(out, "interrupted")
		select {}
	})
}

// TestSecondSignal: the first SIGINT or SIGTERM ends the context of a run, so that it can save; a
// second one ends the process at once, whatever that does.
func TestSecondSignal(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestStubbornChild$")
		cmd.Env = append(os.Environ(), stubbornEnv+"=1")
		out := bufio.NewReader(must.Get(cmd.StdoutPipe())(t))
		must.Do(t, cmd.Start())
		for _, want := range []string{"started\n", "interrupted\n"} {
			if line := must.Get(out.ReadString('\n'))(t); line != want {
				t.Fatalf("the child said %q, want %q", line, want)
			}
			must.Do(t, cmd.Process.Signal(signal))
		}
		ended := make(chan error)
		go func() { ended <- cmd.Wait() }()
		for waiting := true; waiting; {
			select {
			case <-ended:
				waiting = false
			case <-time.After(time.Millisecond): // a second one that came too early was one with the first
				_ = cmd.Process.Signal(signal) // it may have ended
			}
		}
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != signal {
			t.Errorf("after a second %v: %v", signal, cmd.ProcessState)
		}
	}
}
