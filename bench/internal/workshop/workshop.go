package workshop

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/app/shell"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Import paths of the programs that are measured. The bench starts the same ufs-stream as a user does, so no part of
// its work is written again here.
const (
	mainProgram   = "github.com/ufs-stream/ufs-stream/cmd/ufs-stream"
	bareProgram   = "github.com/ufs-stream/ufs-stream/bench/_bareread"
	decodeProgram = "github.com/ufs-stream/ufs-stream/bench/_decode"
)

// killAfter is the time after which an interrupted child process is killed, if it has not ended by itself.
const killAfter = 10 * time.Second

// Cost is the time and the memory of a child process.
type Cost struct {
	Wall time.Duration // elapsed
	CPU  time.Duration // user and system time of all its threads
	Peak int64         // peak resident memory in bytes; 0 if the system does not report it
}

// ChildError is the failure of a child process. It contains the command, to be repeated by hand, and its output.
type ChildError struct {
	command  string
	Code     int    // exit code of the child; -1 if there is none
	Stderr   string // standard error of the child
	TimedOut bool   // the child exceeded its deadline
	err      error
}

// ExitsWith returns the exit code with which the bench ends after this failure. If the child refused its arguments,
// data or memory limit, which come from the flags of the bench, it is the code of the child. Package exit calls this
// method.
func (e *ChildError) ExitsWith() int {
	if e.Code >= exit.Usage && e.Code <= exit.Memory {
		return e.Code
	}
	return exit.Fault
}

func (e *ChildError) Error() string {
	said := cmp.Or(strings.TrimSpace(e.Stderr), "it said nothing")
	return fmt.Sprintf("%s: %v\n  %s", e.command, e.err, strings.ReplaceAll(said, "\n", "\n  "))
}

func (e *ChildError) Unwrap() error { return e.err }

// RunChild runs a program to its end and returns its output and its cost. When ctx ends, the child is interrupted, and
// later killed if it has not ended.
func RunChild(ctx context.Context, binary string, args ...string) ([]byte, Cost, error) {
	cmd := exec.CommandContext(ctx, binary, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = killAfter
	start := time.Now()
	err := cmd.Run()
	took := Cost{Wall: time.Since(start)}
	if s := cmd.ProcessState; s != nil {
		took.CPU = s.UserTime() + s.SystemTime()
		took.Peak = childPeak(s)
	}
	if err != nil {
		code := -1
		if cmd.ProcessState != nil {
			code = cmd.ProcessState.ExitCode()
		}
		return nil, took, &ChildError{shell.Quote(append([]string{binary}, args...)...), code, said.String(), errors.Is(ctx.Err(), context.DeadlineExceeded), err}
	}
	return out.Bytes(), took, nil
}

// StartSelf runs this program as a child process, so that its memory does not count as memory of this process.
func StartSelf(ctx context.Context, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_, _, err = RunChild(ctx, self, args...)
	return err
}

// MakeScratch makes a folder in the system's folder for temporary files.
func MakeScratch() (string, error) {
	dir, err := os.MkdirTemp("", "ufs-stream-bench-")
	if err != nil {
		return "", &stream.OutputError{Path: os.TempDir(), Err: err}
	}
	return dir, nil
}

// Workshop is a scratch folder with the programs to measure. The caller must close it.
type Workshop struct {
	Dir     string
	Program string // ufs-stream
	Version string // output of its verb version, and the commit if it was built here
	Bare    string // bareread; empty until BuildBare
	Decode  string // decode; empty until BuildDecode
	Machine Machine
}

// New makes a workshop that uses binary as ufs-stream. If binary is empty, it builds ufs-stream in the project's folder,
// and elsewhere uses an installed one.
func New(ctx context.Context, binary string) (*Workshop, error) {
	machine, err := ThisMachine()
	if err != nil {
		return nil, err
	}
	dir, err := MakeScratch()
	if err != nil {
		return nil, err
	}
	w := &Workshop{Dir: dir, Machine: machine}
	if err := w.prepareProgram(ctx, binary); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (w *Workshop) prepareProgram(ctx context.Context, binary string) (err error) {
	commit := ""
	switch {
	case binary != "":
		w.Program, err = filepath.Abs(binary)
	case hasSource(ctx, mainProgram):
		w.Program = w.Path("ufs-stream")
		err = goBuild(ctx, mainProgram, w.Program)
		commit = commitHere(ctx)
	default:
		w.Program, err = findInstalled()
	}
	if err != nil {
		return err
	}
	out, _, err := RunChild(ctx, w.Program, "version")
	w.Version = strings.TrimSpace(string(out)) + commit
	return err
}

func hasSource(ctx context.Context, pkg string) bool {
	_, _, err := RunChild(ctx, "go", "list", pkg)
	return err == nil
}

// findInstalled returns the path of the ufs-stream in the folder of this program, as in an archive of a release, or
// else in PATH.
func findInstalled() (string, error) {
	name := path.Base(mainProgram)
	if self, err := os.Executable(); err == nil {
		if found, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
			return found, nil
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", stream.Usagef("there is no %s to measure: %v; install it (go install %s@latest), or name its file with {binary}", name, err, mainProgram)
	}
	return filepath.Abs(found)
}

// commitHere returns the commit of the current folder, for the version of a program built from it. Go does not record
// the commit if GOFLAGS has -buildvcs=false. It returns "" without git.
func commitHere(ctx context.Context) string {
	out, _, err := RunChild(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
	if err != nil {
		return ""
	}
	return ", commit " + strings.TrimSpace(string(out))
}

// BuildBare uses binary as bareread, or builds bareread if binary is empty.
func (w *Workshop) BuildBare(ctx context.Context, binary string) error {
	if w.Bare = binary; binary != "" {
		return nil
	}
	w.Bare = w.Path("bareread")
	return goBuild(ctx, bareProgram, w.Bare)
}

// BuildDecode uses binary as decode, or builds decode if binary is empty.
func (w *Workshop) BuildDecode(ctx context.Context, binary string) error {
	if w.Decode = binary; binary != "" {
		return nil
	}
	w.Decode = w.Path("decode")
	return goBuild(ctx, decodeProgram, w.Decode)
}

// Close removes the scratch folder.
func (w *Workshop) Close() { os.RemoveAll(w.Dir) }

// Path returns the path of a file in the scratch folder.
func (w *Workshop) Path(name string) string { return filepath.Join(w.Dir, name) }

func goBuild(ctx context.Context, pkg, to string) error {
	_, _, err := RunChild(ctx, "go", "build", "-o", to, pkg)
	if err != nil && ctx.Err() == nil && !hasSource(ctx, pkg) {
		return stream.Usagef("%s is built from its source, %s, which is not here: run this verb in the project's folder", path.Base(pkg), pkg)
	}
	return err
}

// RunJSON runs a verb of the program and decodes its JSON output into result.
func (w *Workshop) RunJSON(ctx context.Context, result any, verb string, args ...string) (Cost, error) {
	args = append([]string{verb}, append(args, "--progress", "off", "--format", "json")...)
	out, took, err := RunChild(ctx, w.Program, args...)
	if err != nil {
		return took, err
	}
	if err := json.Unmarshal(out, result); err != nil {
		return took, fmt.Errorf("%s: what it wrote cannot be read: %w", shell.Quote(append([]string{w.Program}, args...)...), err)
	}
	return took, nil
}

// RunSelect runs select. On Linux the peak of a child includes memory that it shared with this process before exec. If
// this hides the child's own peak, RunSelect uses the peak that select itself reports.
func (w *Workshop) RunSelect(ctx context.Context, args ...string) (*stream.Selection, Cost, error) {
	sel := new(stream.Selection)
	took, err := w.RunJSON(ctx, sel, "select", args...)
	if took.Peak <= ownPeak() {
		took.Peak = sel.Memory.PeakRSS
	}
	return sel, took, err
}
