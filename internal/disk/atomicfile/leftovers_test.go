//go:build unix

package atomicfile

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

const holdEnv = "UFS_TEST_ATOMIC_HOLD"

// TestHoldChild is the process that TestLeftovers kills: it holds one of each kind of temporary.
func TestHoldChild(t *testing.T) {
	dir := os.Getenv(holdEnv)
	if dir == "" {
		return
	}
	f := must.Get(Create(t.Context(), filepath.Join(dir, "file")))(t)
	must.Get(f.Write([]byte("half")))(t)
	d := must.Get(CreateDir(t.Context(), filepath.Join(dir, "dir")))(t)
	must.Get(d.Create(t.Context(), "half"))(t)
	r := must.Get(ResumeDir(t.Context(), filepath.Join(dir, "resumed"), all))(t)
	build(t, r, "a", "finished")
	must.Get(r.Create(t.Context(), "b"))(t)
	g, _, err := ResumeFile(t.Context(), filepath.Join(dir, "growing"), func(FinishedFile) bool { return true })
	must.Do(t, err)
	grow(t, g, nil, "one", "two")
	// A spool has a name only for a moment, or if the system cannot remove open files.
	in := must.Get(os.OpenRoot(dir))(t)
	_, _, err = makeTemp(in, "spool", filepath.Join(dir, "spool"), in.Create)
	must.Do(t, err)
	must.Get(os.Stdout.WriteString("started\n"))(t)
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or nobody is left to do so
}

// TestLeftovers: the next run of the same command removes or resumes the leftovers of a killed process, and
// touches nothing of a living one.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHoldChild$")
	cmd.Env = append(os.Environ(), holdEnv+"="+dir)
	stdout := must.Get(cmd.StdoutPipe())(t)
	must.Get(cmd.StdinPipe())(t) // which is never closed
	must.Do(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill() }() // if the test fails; otherwise it has ended
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "started\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	next := func() {
		must.Do(t, must.Get(Create(t.Context(), filepath.Join(dir, "file")))(t).Close())
		must.Do(t, must.Get(CreateDir(t.Context(), filepath.Join(dir, "dir")))(t).Abort(t.Context()))
		must.Do(t, must.Get(NewSpool(dir, "spool"))(t).Close())
	}
	held := tempsIn(t, dir)
	if len(held) != 5 {
		t.Fatalf("the child holds %q: the test does not test", held)
	}
	next()
	if _, err := ResumeDir(t.Context(), filepath.Join(dir, "resumed"), all); err == nil {
		t.Error("the folder of a process that lives is taken from it")
	}
	if _, _, err := ResumeFile(t.Context(), filepath.Join(dir, "growing"), func(FinishedFile) bool { return true }); err == nil {
		t.Error("the file of a process that lives is taken from it")
	}
	if now := tempsIn(t, dir); !slices.Equal(now, held) {
		t.Errorf("of a process that lives %q are left of %q", now, held)
	}
	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	next()
	d := must.Get(ResumeDir(t.Context(), filepath.Join(dir, "resumed"), all))(t)
	if got := fates(t, d, "a", "b"); !slices.Equal(got, []Fate{Whole, Unfinished}) {
		t.Errorf("fates %v", got)
	}
	if names := must.Get(os.ReadDir(d.Path()))(t); len(names) != 1 {
		t.Errorf("the folder still has %v", names)
	}
	must.Do(t, d.Abort(t.Context()))
	g, marks, err := ResumeFile(t.Context(), filepath.Join(dir, "growing"), func(FinishedFile) bool { return true })
	must.Do(t, err)
	if len(marks) != 2 {
		t.Errorf("of a killed process's file %d marks hold, want 2", len(marks))
	}
	g.Abort()
	if left := tempsIn(t, dir); left != nil {
		t.Errorf("left behind: %q", left)
	}
}
