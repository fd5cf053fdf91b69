package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// terminal opens a pseudo-terminal: what is written to its inner end comes out at the outer one.
func terminal(t *testing.T) (outer, inner *os.File) {
	t.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { outer.Close() })
	n, err := unix.IoctlGetInt(int(outer.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(outer.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		inner, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatalf("opening a terminal: %v", err)
	}
	t.Cleanup(func() { inner.Close() })
	return outer, inner
}

// TestTerminalStaysClean: CSV, JSON and names keep names as they are for programs, and not where a
// terminal is what reads them.
func TestTerminalStaysClean(t *testing.T) {
	in := columnsFile(t, filepath.Join(t.TempDir(), "in.parquet"), []string{"\x1b[31mred", "\u009b2J\u202e"}, []float64{1, 2, 4}, []float64{2, 1, 5})
	for _, format := range []string{"csv", "json", "names", "table"} {
		outer, inner := terminal(t)
		var errw bytes.Buffer
		args := []string{"select", in, "-k", "2", "--details", "none", "--format", format}
		if code := run(t.Context(), args, nil, inner, &errw); code != exit.Done {
			t.Fatalf("%s: exit code %d: %s", format, code, errw.String())
		}
		inner.Close()
		all, err := io.ReadAll(outer)                        // ends with EIO, as the inner end is closed
		got := strings.ReplaceAll(string(all), "\r\n", "\n") // as terminals break lines
		if !errors.Is(err, unix.EIO) || unclean(got) >= 0 || !strings.Contains(got, "[31mred") {
			t.Errorf("%s: %v, the terminal gets %q", format, err, got)
		}
		if piped := must(t, args...); format != "table" && format != "json" && unclean(piped) < 0 {
			t.Errorf("%s: a program gets %q", format, piped)
		}
	}
}
