package main

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// blobs are columns of rows around three centres, as CSV and as an Arrow IPC stream.
func blobs(t *testing.T) (text, arrow []byte) {
	t.Helper()
	const rows, d = 240, 9
	r := rand.New(rand.NewPCG(3, 9))
	m := memory{rows: rows, data: make([]float64, rows*d)}
	var columns [][]float64
	for j := range d {
		m.columns = append(m.columns, stream.Column{Name: "c" + string(rune('0'+j)), Type: "double"})
		column := m.data[j*rows:][:rows]
		for i := range column {
			column[i] = 20 + float64((i%3)*(j%4)) + r.NormFloat64()
		}
		columns = append(columns, column)
	}
	return asCSV(m, ","), arrowStream(t, columns...)
}

// TestStandardInputAgain: whatever reads its input more than once has from standard input the selection
// of the file, of CSV and of a stream of Arrow IPC. No scratch is left.
func TestStandardInputAgain(t *testing.T) {
	text, arrow := blobs(t)
	dir, scratch := t.TempDir(), t.TempDir()
	for name, data := range map[string][]byte{"t.csv": text, "t.arrows": arrow} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatalf("writing the input: %v", err)
		}
		for _, args := range []string{
			"--method sfufs", "--method laplacian", "--method eufs --clusters 3 --max-iter 3", "", "--method cpufs --shape 3x3 --max-iter 3",
			"--method greedy --scale rank", "--method greedy --rows 100", "--method greedy --sketch 64", "--categorical auto",
		} {
			flags := append([]string{"-k", "4", "--format", "json", "--temp-dir", scratch}, strings.Fields(args)...)
			results := map[string]string{}
			for _, input := range []string{path, "-"} {
				r := invokeWith(t.Context(), data, append([]string{"select", input}, flags...)...)
				if r.code != exit.Done {
					t.Fatalf("%s %s: exit code %d: %s", input, args, r.code, r.err)
				}
				s, err := stream.DecodeSelection(strings.NewReader(r.out))
				if err != nil {
					t.Fatalf("decoding the selection: %v", err)
				}
				if len(s.Inputs) != 1 || s.Inputs[0].Rows != 240 {
					t.Errorf("%s %s: inputs %+v", input, args, s.Inputs)
				}
				if kept := name == "t.csv" || input == "-" && args != ""; kept != (s.Memory.Scratch > 0) {
					t.Errorf("%s %s: %d bytes of scratch", input, args, s.Memory.Scratch)
				}
				s.Inputs, s.Timing, s.Memory = nil, stream.Timing{}, stream.Memory{}
				results[input] = marshal(t, s) + strings.ReplaceAll(r.err, path, "-")
			}
			if results[path] != results["-"] {
				t.Errorf("%s %s:\n%s\non standard input:\n%s", name, args, results[path], results["-"])
			}
		}
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left in the scratch folder: %v, %v", left, err)
	}
}

// TestStandardInputDropsRows: a stream of Arrow IPC whose rows with missing values are to be dropped is read again
// from the --temp-dir that is named, as the file is; without one it is refused with that remedy.
func TestStandardInputDropsRows(t *testing.T) {
	x, y := make([]float64, 60), make([]float64, 60)
	for i := range x {
		x[i], y[i] = float64(i%7), float64(i%5)
	}
	x[9] = math.NaN()
	arrow, path := arrowStream(t, x, y), filepath.Join(t.TempDir(), "t.arrows")
	if err := os.WriteFile(path, arrow, 0o644); err != nil {
		t.Fatalf("writing the input: %v", err)
	}
	flags := []string{"-k", "2", "--method", "greedy", "--missing", "drop-row", "--format", "csv"}
	file := invoke(append([]string{"select", path}, flags...)...)
	in := invokeWith(t.Context(), arrow, append([]string{"select", "-", "--temp-dir", t.TempDir()}, flags...)...)
	if file.code != exit.Done || in.code != exit.Done || in.out != file.out {
		t.Errorf("exit code %d: %s%s\nof the file %d: %s%s", in.code, in.out, in.err, file.code, file.out, file.err)
	}
	r := invokeWith(t.Context(), arrow, append([]string{"select", "-"}, flags...)...)
	if r.code != exit.Data || !strings.Contains(r.err, "name a --temp-dir") {
		t.Errorf("without a folder: exit code %d: %s", r.code, r.err)
	}
}

// TestStandardInputOnce: a method that reads once keeps no stream of Arrow IPC. No plan file is of
// standard input, which others do not have.
func TestStandardInputOnce(t *testing.T) {
	text, arrow := blobs(t)
	r := invokeWith(t.Context(), text, "plan", "-", "-o", filepath.Join(t.TempDir(), "x.plan.json"))
	if r.code != exit.Usage || !strings.Contains(r.err, "cannot be planned") {
		t.Errorf("a plan of standard input: exit code %d: %s", r.code, r.err)
	}
	for _, c := range []struct {
		args string
		code int
	}{
		{"select - -k 3 --method greedy", exit.Done},
		{"select - -k 3", exit.Done}, // by the method that reads once
		{"select - -k 3 --method laplacian --temp-dir " + t.TempDir(), exit.Memory},
		{"select - -k 3 --method laplacian", exit.Usage},
		{"select - -k 3 --method eufs", exit.Usage},
		{"select - -k 3 --method greedy --scale rank", exit.Usage},
		{"select - -k 3 --method greedy --rows 10", exit.Usage},
		{"select - -k 3 --method greedy --sketch 64", exit.Done},
		{"select - -k 3 --method greedy --sketch 64 --passes 2", exit.Usage},
		{"select - -k 3 --categorical auto", exit.Usage},
		{"scan - --sketch 64 -o " + filepath.Join(t.TempDir(), "s.ufs"), exit.Done},
		{"tree - --tree correlation", exit.Done},
	} {
		args := append(strings.Fields(c.args), "--max-temp-size", "100B")
		if r := invokeWith(t.Context(), arrow, args...); r.code != c.code || c.code == exit.Usage && !strings.Contains(r.err, "name a --temp-dir") {
			t.Errorf("%s of Arrow in 100 bytes of scratch: exit code %d, want %d: %s", c.args, r.code, c.code, r.err)
		}
		if r := invokeWith(t.Context(), text, args...); r.code != exit.Memory || !strings.Contains(r.err, "--max-temp-size") {
			t.Errorf("%s of CSV in 100 bytes of scratch: exit code %d: %s", c.args, r.code, r.err)
		}
	}
}

// TestStandardInputInterrupted: nothing is left of a stream that ends by an interrupt or a fault while it
// is kept.
func TestStandardInputInterrupted(t *testing.T) {
	text, arrow := blobs(t)
	scratch := t.TempDir()
	args := []string{"select", "-", "-k", "3", "--method", "laplacian", "--temp-dir", scratch}
	for _, data := range [][]byte{text, arrow} {
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		code := make(chan int)
		go func() { code <- run(ctx, args, r, io.Discard, io.Discard) }()
		if _, err := w.Write(data[:len(data)/2]); err != nil {
			t.Fatalf("writing to standard input: %v", err)
		}
		time.Sleep(20 * time.Millisecond) // let it wait for more; too short would only make the test easier
		cancel()
		if got := <-code; got != exit.Interrupted {
			t.Errorf("exit code %d, want %d", got, exit.Interrupted)
		}
		w.Close()
		if got := invokeWith(t.Context(), append(data[:len(data)*2/3:len(data)*2/3], "\"\x00"...), args...); got.code != exit.Data {
			t.Errorf("cut off: exit code %d, %s", got.code, got.err)
		}
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left in the scratch folder: %v, %v", left, err)
	}
}

// TestScratchOfText: every verb that reads rows of text keeps them where it is told, within the bound.
func TestScratchOfText(t *testing.T) {
	text, _ := blobs(t)
	dir := t.TempDir()
	in, sel := filepath.Join(dir, "t.csv"), filepath.Join(dir, "s.json")
	if err := os.WriteFile(in, text, 0o644); err != nil {
		t.Fatalf("writing the input: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "u.csv"), text, 0o644); err != nil {
		t.Fatalf("writing the input: %v", err)
	}
	must(t, "select", in, "-k", "3", "--method", "greedy", "-o", sel)
	for _, args := range [][]string{
		{"apply", in, "--selection", sel, "-o", filepath.Join(dir, "small.parquet")},
		{"eval", in, "--selection", sel, "--resamples", "2"},
		{"tree", in, "--tree", "correlation"},
		{"explain", "c1", "--selection", sel, in},
		{"redundancy", in},
		{"inspect", in},
		{"plan", in, "-k", "3"},
		{"scan", in, "-o", filepath.Join(dir, "s.ufs")},
		{"convert", in, filepath.Join(dir, "u.csv"), "-o", filepath.Join(dir, "twice.parquet")},
	} {
		must(t, append(args, "--temp-dir", dir, "--max-temp-size", "1MiB")...)
		ends(t, exit.Memory, "--max-temp-size", append(args, "--max-temp-size", "100B")...)
		ends(t, exit.Fault, "no such f", append(args, "--temp-dir", filepath.Join(dir, "nosuch"))...)
	}
}
