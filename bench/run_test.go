package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/exit"
)

// built makes the programs, once for all tests; TestMain removes them.
var (
	built = sync.OnceValues(func() (_ *workshop, err error) {
		if builtHere, err = newWorkshop(context.Background(), ""); err != nil {
			return nil, err
		}
		if err := builtHere.buildBare(context.Background(), ""); err != nil {
			return nil, err
		}
		return builtHere, builtHere.buildDecode(context.Background(), "")
	})
	builtHere *workshop
)

// sleeping is set in the environment of a test binary that plays a child which takes long.
const sleeping = "UFS_STREAM_TEST_SLEEP"

func TestMain(m *testing.M) {
	if os.Getenv(sleeping) != "" {
		time.Sleep(time.Hour)
	}
	code := m.Run()
	if builtHere != nil {
		builtHere.Close()
	}
	os.Exit(code)
}

// runBench runs the program in this process.
func runBench(ctx context.Context, args ...string) (code int, out, said string) {
	var o, e bytes.Buffer
	code = run(ctx, args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// inProcess stands in for startSelf: a test binary is not the program.
func inProcess(ctx context.Context, args []string) error {
	if code, _, said := runBench(ctx, args...); code != exit.Done {
		return errors.New(said)
	}
	return ctx.Err()
}

// refuses runs the program and wants an exit code, and words on standard error.
func refuses(t *testing.T, want int, say string, args ...string) {
	t.Helper()
	if code, _, said := runBench(t.Context(), args...); code != want || !strings.Contains(said, say) {
		t.Errorf("%v: exit code %d, want %d and something of %q: %s", args, code, want, say, said)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFailedChildNamesCommandAndWhatItSaid(t *testing.T) {
	_, took, err := child(t.Context(), "go", "no such verb")
	var failed *childError
	if exit.Code(&childError{code: exit.Data}) != exit.Data || exit.Code(&childError{code: exit.Fault}) != exit.Fault || exit.Code(&childError{code: -1}) != exit.Fault {
		t.Error("the exit code of what ufs-stream refuses is lost")
	}
	if !errors.As(err, &failed) || failed.code <= 0 {
		t.Fatalf("got %v, want a child that failed by itself", err)
	}
	for _, want := range []string{"go 'no such verb'", "unknown command"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if took.Wall <= 0 || took.Peak < 0 {
		t.Errorf("it took %v", took)
	}
	if _, _, err := child(t.Context(), filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("a program that is not there ran")
	}
}

func TestCommitIsNamed(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	if got := commitHere(t.Context()); got != "" {
		t.Errorf("a folder without commits has %q", got)
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-q", "--no-gpg-sign", "--allow-empty", "-m", "first"},
	} {
		if _, _, err := child(t.Context(), "git", args...); err != nil {
			t.Fatal(err)
		}
	}
	if got := commitHere(t.Context()); !regexp.MustCompile(`^, commit [0-9a-f]{12}$`).MatchString(got) {
		t.Errorf("the commit is %q", got)
	}
}

func TestInterruptEndsChild(t *testing.T) {
	t.Setenv(sleeping, "1")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := child(ctx, os.Args[0]); err == nil || ctx.Err() == nil {
		t.Errorf("got %v, want an interruption", err)
	}
}

// The yardstick and our own decoding read every value there is, on any number of threads, from
// files and folders alike.
func TestReadersReadAll(t *testing.T) {
	dir := t.TempDir()
	s := size{700, 30}
	if err := inProcess(t.Context(), plantedData.genArgs(filepath.Join(dir, "planted.parquet"), s, 1)); err != nil {
		t.Fatal(err)
	}
	shop, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{shop.bare, shop.decode} {
		for _, threads := range []string{"1", "3"} {
			for _, input := range []string{dir, filepath.Join(dir, "planted.parquet")} {
				out, _, err := child(t.Context(), program, threads, input)
				if got, want := strings.TrimSpace(string(out)), strconv.Itoa(700*30); err != nil || got != want {
					t.Errorf("%s: %s threads, %s: %s values, %v; want %s", program, threads, input, got, err, want)
				}
			}
		}
		for _, args := range [][]string{{"1", filepath.Join(dir, "planted.json")}, {"0", dir}, {"1"}} {
			if _, _, err := child(t.Context(), program, args...); err == nil {
				t.Errorf("%s read %q", program, args)
			}
		}
	}
}

func TestMachineIsNamed(t *testing.T) {
	m, err := thisMachine()
	if err != nil || m.CPU == "" || m.Cores < 1 || m.Go == "" || m.Kernel == "" {
		t.Errorf("%+v, %v", m, err)
	}
	file := filepath.Join(t.TempDir(), "info")
	if err := os.WriteFile(file, []byte("processor\t: 0\nmodel name\t: A: B\nMemTotal:       1024 kB\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := procValue(file, "model name", ""); got != "A: B" {
		t.Errorf("model name is %q", got)
	}
	if got := procBytes(file, "MemTotal"); got != 1<<20 {
		t.Errorf("memory is %d", got)
	}
	if got := procValue(file+"x", "model name", "unknown"); got != "unknown" {
		t.Errorf("model name of no file is %q", got)
	}
}
