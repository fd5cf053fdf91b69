// Package benchtest runs the bench in tests, finds the programs that it measures, and checks its output.
package benchtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// BuildOnce makes a workshop with ufs-stream, once for all tests of a package. Main removes it.
var BuildOnce = sync.OnceValues(func() (*workshop.Workshop, error) {
	program, err := BuildProgram("cmd/ufs-stream")
	if err != nil {
		return nil, err
	}
	builtHere, err = workshop.New(context.Background(), program)
	return builtHere, err
})

// BuildReadersOnce makes the workshop of BuildOnce with the programs bareread and decode, which only read.
var BuildReadersOnce = sync.OnceValues(func() (*workshop.Workshop, error) {
	shop, err := BuildOnce()
	if err == nil {
		shop.Bare, err = BuildProgram("bench/_bareread")
	}
	if err == nil {
		shop.Decode, err = BuildProgram("bench/_decode")
	}
	return shop, err
})

// BuildProgram returns the path of the program in a folder of the module. It is linked once for all test binaries: go
// run keeps the program in the build cache, which go build does not.
func BuildProgram(folder string) (path string, err error) {
	args := []string{"run", "-exec", "echo", "github.com/ufs-stream/ufs-stream/" + folder}
	if runtime.GOOS == "windows" {
		args[2] = "cmd /c echo"
	}
	for range 2 { // the path is of a folder that go run removes if it has just linked the program
		out, err := exec.Command("go", args...).Output() //nolint:noctx // of all tests
		if path = strings.TrimSpace(string(out)); err != nil {
			return "", fmt.Errorf("building %s: %w", folder, err)
		}
		if _, err = os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not in the build cache", path)
}

var builtHere *workshop.Workshop

// Main runs the tests of a package, and removes the workshop of BuildOnce.
func Main(m *testing.M) {
	code := m.Run()
	if builtHere != nil {
		builtHere.Close()
	}
	os.Exit(code)
}

// Program is the command bench with only the listed verbs.
type Program []cli.Verb

// Run runs the bench in this process.
func (p Program) Run(ctx context.Context, args ...string) (code int, out, errorOutput string) {
	var o, e bytes.Buffer
	code = cli.Run(ctx, args, &o, &e, p...)
	return code, o.String(), e.String()
}

// Generate runs gen in this process. It replaces workshop.StartSelf, because a test binary is not the bench.
func (p Program) Generate(ctx context.Context, args []string) error {
	if code, _, said := p.Run(ctx, args...); code != exit.Done {
		return errors.New(said)
	}
	return ctx.Err()
}

// MakePlanted makes planted data in a file at path. more has additional flags of gen.
func (p Program) MakePlanted(t *testing.T, path string, rows, columns int, more ...string) {
	t.Helper()
	args := []string{"gen", "planted", "--rows", strconv.Itoa(rows), "--seed", "1", "-o", path, "-q", "--type", "float", "--columns", strconv.Itoa(columns)}
	if err := p.Generate(t.Context(), append(args, more...)); err != nil {
		t.Fatalf("making planted data: %v", err)
	}
}

// CheckRefusal runs the program and checks that it exits with wantCode, and that its error output contains wantText.
func (p Program) CheckRefusal(t *testing.T, wantCode int, wantText string, args ...string) {
	t.Helper()
	if code, _, said := p.Run(t.Context(), args...); code != wantCode || !strings.Contains(said, wantText) {
		t.Errorf("%v: exit code %d, want %d and something of %q: %s", args, code, wantCode, wantText, said)
	}
}

// ReadText reads a file.
func ReadText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("reading a result: %v", err)
	}
	return string(b)
}

// ReadTable returns the names and values of all columns of a file or folder, with NaN for missing values.
func ReadTable(t *testing.T, path string, opt chunkio.Options) (names []string, columns [][]float64) {
	t.Helper()
	opt.Missing = stream.MissingKeep
	src, err := chunkio.Open(t.Context(), []string{path}, opt)
	if err != nil {
		t.Fatalf("opening %s: %v", path, err)
	}
	defer src.Close()
	columns = make([][]float64, len(src.Columns()))
	for _, c := range src.Columns() {
		names = append(names, c.Name)
	}
	for c, err := range src.Chunks(t.Context(), stream.Range{}) {
		if err != nil {
			t.Fatalf("reading %s: %v", path, err)
		}
		for j := range columns {
			columns[j] = append(columns[j], c.Col(j)...)
		}
	}
	return names, columns
}

// CheckTables checks that every row of the Markdown tables in text has as many cells as the head of the table.
func CheckTables(t *testing.T, text string) {
	t.Helper()
	cells := 0
	for _, l := range strings.Split(text, "\n") {
		if !strings.HasPrefix(l, "|") {
			cells = 0
			continue
		}
		n := strings.Count(l, "|") - strings.Count(l, `\|`)
		if cells != 0 && n != cells {
			t.Errorf("%d cells in a table of %d: %s", n-1, cells-1, l)
		}
		cells = n
	}
}

// CheckNoScratch checks that the bench has left no scratch folder in the system's temporary folder. Before, the test
// must set $TMPDIR to a folder of its own.
func CheckNoScratch(t *testing.T) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "ufs-stream-bench-*")); len(left) != 0 {
		t.Errorf("scratch is left: %v", left)
	}
}

// CancelAt is a writer that calls Cancel when a write begins with Word.
type CancelAt struct {
	Word   string
	Cancel func()
}

// Write implements io.Writer.
func (c CancelAt) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte(c.Word)) {
		c.Cancel()
	}
	return len(p), nil
}
