package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// The blocks of README.md in which commands stand, in their order.
const (
	buildBlock = iota
	poolBlock
	prismBlock
	jobBlock
)

// readme is the commands in README.md.
func readme() ([]string, error) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		return nil, err
	}
	var blocks []string
	for _, match := range regexp.MustCompile("(?s)\n```sh\n(.*?)```\n").FindAllSubmatch(text, -1) {
		blocks = append(blocks, string(match[1]))
	}
	if len(blocks) <= jobBlock {
		return nil, fmt.Errorf("README.md has %d blocks of commands", len(blocks))
	}
	return blocks, nil
}

// patience bounds every wait of these tests: a job takes two seconds.
const patience = 2 * time.Minute

// server is a process that runs beside the test, and its log.
type server struct {
	cmd   *exec.Cmd
	mu    sync.Mutex
	log   bytes.Buffer
	ready chan struct{} // closed once the log has the mark
	mark  string
}

// Write collects the output of the process.
func (s *server) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := strings.Contains(s.log.String(), s.mark)
	s.log.Write(b)
	if !before && strings.Contains(s.log.String(), s.mark) {
		close(s.ready)
	}
	return len(b), nil
}

func (s *server) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// serve starts a block of README.md, waits until its log has the mark, and kills it with all that
// it started when the test ends.
func serve(t *testing.T, block int, mark string) *server {
	t.Helper()
	blocks := must.Get(readme())(t)
	s := &server{ready: make(chan struct{}), mark: mark}
	s.cmd = exec.Command("bash", "-c", "exec "+blocks[block]) //nolint:noctx // the end of the test kills it
	s.cmd.Dir = t.TempDir()                                   // what boots a worker leaves a file in it
	s.cmd.Env = append(os.Environ(), "BIN="+os.Getenv(insideVariable))
	s.cmd.Stdout, s.cmd.Stderr = s, s
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.WaitDelay = time.Second // its children have its output
	must.Do(t, s.cmd.Start())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.cmd.Wait() }()
	t.Cleanup(func() {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		if t.Failed() {
			t.Logf("%s said:\n%s", strings.TrimSpace(blocks[block]), s)
		}
	})
	select {
	case <-s.ready:
	case <-ended:
		t.Fatalf("%s ended:\n%s", blocks[block], s)
	case <-time.After(patience):
		t.Fatalf("%s does not begin:\n%s", blocks[block], s)
	}
	return s
}

// cluster is a job server and a pool of workers.
type cluster struct{ pool, prism *server }

// startCluster starts both with the environment that the test has.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	return &cluster{pool: serve(t, poolBlock, "starting Process server"), prism: serve(t, prismBlock, "Serving JobManagement")}
}

// outcome is how a program ended.
type outcome struct {
	code     int
	out, err string
}

// beam runs ufs-beam on the cluster.
func (c *cluster) beam(t *testing.T, args ...string) outcome {
	t.Helper()
	return execute(t, exec.CommandContext(bounded(t), filepath.Join(os.Getenv(insideVariable), "ufs-beam"), append(args,
		"--endpoint", "localhost:8073", "--environment_type", "EXTERNAL", "--environment_config", "localhost:50000")...))
}

// bounded is the test's context with an end.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func execute(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var out, errw bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errw
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("starting the program: %v", err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errw.String()}
}

// lastWords returns ufs-beam's error about a failed job.
func lastWords(r outcome) string {
	return r.err[max(0, strings.LastIndex(r.err, "ufs-beam: the job failed")):]
}

// exitIs reports whether the program ended with one of the codes.
func exitIs(r outcome, codes ...int) bool { return slices.Contains(codes, r.code) }

// worker finds the process that scans: the pool starts a boot program, and that the worker.
func (c *cluster) worker(t *testing.T) int {
	t.Helper()
	boot := childOf(t, c.pool.cmd.Process.Pid)
	return childOf(t, boot)
}

// childOf is the only child of a process.
func childOf(t *testing.T, parent int) int {
	t.Helper()
	var children []int
	for _, path := range must.Get(filepath.Glob("/proc/[0-9]*/stat"))(t) {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state ppid …, where the name may have spaces.
		_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')'):]), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[0] != "Z" && fields[1] == strconv.Itoa(parent) {
			children = append(children, must.Get(strconv.Atoi(filepath.Base(filepath.Dir(path))))(t))
		}
	}
	if len(children) != 1 {
		t.Fatalf("process %d has the children %v, want one", parent, children)
	}
	return children[0]
}
