package workshop_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// bench is the program with the verbs that these tests run.
var bench = benchtest.Program{gen.New}

// sleeping is set in the environment of a test binary that plays a child which takes long.
const sleeping = "UFS_STREAM_TEST_SLEEP"

func TestMain(m *testing.M) {
	if os.Getenv(sleeping) != "" {
		time.Sleep(time.Hour)
	}
	benchtest.Main(m)
}

func TestFailedChildNamesCommandAndWhatItSaid(t *testing.T) {
	_, took, err := workshop.RunChild(t.Context(), "go", "no such verb")
	var failed *workshop.ChildError
	if exit.CodeOf(&workshop.ChildError{Code: exit.Data}) != exit.Data || exit.CodeOf(&workshop.ChildError{Code: exit.Fault}) != exit.Fault || exit.CodeOf(&workshop.ChildError{Code: -1}) != exit.Fault {
		t.Error("the exit code of what ufs-stream refuses is lost")
	}
	if !errors.As(err, &failed) || failed.Code <= 0 {
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
	if _, _, err := workshop.RunChild(t.Context(), filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("a program that is not there ran")
	}
}

func TestInterruptEndsChild(t *testing.T) {
	t.Setenv(sleeping, "1")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := workshop.RunChild(ctx, os.Args[0]); err == nil || ctx.Err() == nil {
		t.Errorf("got %v, want an interruption", err)
	}
}

// The yardstick and our own decoding read every value there is, on any number of threads, from
// files and folders alike.
func TestReadersReadAll(t *testing.T) {
	dir := t.TempDir()
	bench.MakePlanted(t, filepath.Join(dir, "planted.parquet"), 700, 30)
	shop, err := benchtest.BuildReadersOnce()
	if err != nil {
		t.Fatalf("building the programs: %v", err)
	}
	built := must.Get(workshop.New(t.Context(), shop.Program))(t)
	defer built.Close()
	must.Do(t, built.BuildBare(t.Context(), "")) // as the bench builds all programs
	for _, program := range []string{built.Bare, shop.Decode} {
		for _, threads := range []string{"1", "3"} {
			for _, input := range []string{dir, filepath.Join(dir, "planted.parquet")} {
				out, _, err := workshop.RunChild(t.Context(), program, threads, input)
				if got, want := strings.TrimSpace(string(out)), strconv.Itoa(700*30); err != nil || got != want {
					t.Errorf("%s: %s threads, %s: %s values, %v; want %s", program, threads, input, got, err, want)
				}
			}
		}
		for _, args := range [][]string{{"1", filepath.Join(dir, "planted.json")}, {"0", dir}, {"1"}} {
			if _, _, err := workshop.RunChild(t.Context(), program, args...); err == nil {
				t.Errorf("%s read %q", program, args)
			}
		}
	}
}
