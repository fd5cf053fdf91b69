package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/internal/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// asProgram is set in the environment of a test binary that plays the program.
const asProgram = "UFS_STREAM_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// result is the exit code of a run and what it wrote.
type result struct {
	code     int
	out, err string
}

// invoke runs the program in this process.
func invoke(args ...string) result {
	return invokeContext(context.Background(), args...)
}

func invokeContext(ctx context.Context, args ...string) result {
	var out, errw bytes.Buffer
	code := run(ctx, args, strings.NewReader(""), &out, &errw)
	return result{code, out.String(), errw.String()}
}

// must runs the program and wants exit code 0.
func must(t *testing.T, args ...string) string {
	t.Helper()
	r := invoke(args...)
	if r.code != exit.Done {
		t.Fatalf("ufs-stream %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.err)
	}
	return r.out
}

// dataset is the path of a real dataset. The test is skipped where the datasets are not
// beside the checkout.
func dataset(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "datasets", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the real datasets are not beside this checkout: %v", err)
	}
	return path
}

// rowsOf is a source of some rows of another source.
type rowsOf struct {
	stream.Source
	r stream.Range
}

func (s rowsOf) Rows() int64 { return s.r.To - s.r.From }

func (s rowsOf) Chunks(ctx context.Context, _ stream.Range) iter.Seq2[*stream.Chunk, error] {
	return s.Source.Chunks(ctx, s.r)
}

// plant writes a planted table into n files of equally many rows, and returns their folder
// and paths. Row groups have at most 100 rows.
func plant(t *testing.T, rows int64, n int) (dir string, paths []string) {
	t.Helper()
	return plantSource(t, planted.New(planted.Options{Rows: rows, GroupRow: 100}), n)
}

func plantSource(t *testing.T, table stream.Source, n int) (dir string, paths []string) {
	t.Helper()
	dir = t.TempDir()
	rows := table.Rows()
	for i := range int64(n) {
		path := filepath.Join(dir, fmt.Sprintf("part-%03d.parquet", i))
		part := rowsOf{table, stream.Range{From: rows * i / int64(n), To: rows * (i + 1) / int64(n)}}
		if err := chunkio.WriteParquet(context.Background(), path, part, chunkio.WriteOptions{RowGroupRows: 100}); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return dir, paths
}

// editedTable is a source whose rows are edited before they are read.
type editedTable struct {
	stream.Source
	edit func(c *stream.Chunk, i int) // edits row i of c
}

func (e editedTable) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		for c, err := range e.Source.Chunks(ctx, r) {
			for i := 0; err == nil && i < c.Rows; i++ {
				e.edit(c, i)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// holed is table without every 97th value of its third column.
func holed(table stream.Source) stream.Source {
	return editedTable{table, func(c *stream.Chunk, i int) {
		if c.Position(i)%97 == 0 {
			c.Col(2)[i] = math.NaN()
		}
	}}
}

// columnsFile writes a file of the given columns; NaN becomes null.
func columnsFile(t *testing.T, path string, names []string, columns ...[]float64) string {
	t.Helper()
	src := memory{rows: len(columns[0])}
	for j, name := range names {
		src.columns = append(src.columns, stream.Column{Name: name, Type: "double"})
		src.data = append(src.data, columns[j]...)
	}
	if err := chunkio.WriteParquet(context.Background(), path, src, chunkio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// memory is a table in memory; it is one chunk.
type memory struct {
	columns []stream.Column
	rows    int
	data    []float64
}

func (m memory) Columns() []stream.Column { return m.columns }
func (m memory) Rows() int64              { return int64(m.rows) }
func (m memory) Cuts() []int64            { return []int64{0, int64(m.rows)} }

func (m memory) Chunks(context.Context, stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		if m.rows > 0 {
			yield(&stream.Chunk{Block: m.rows, Rows: m.rows, Cols: len(m.columns), Stride: m.rows, Data: m.data}, nil)
		}
	}
}

// selection runs select with JSON output.
func selection(t *testing.T, args ...string) *stream.Selection {
	t.Helper()
	out := must(t, append([]string{"select", "--format", "json"}, args...)...)
	s, err := stream.DecodeSelection(strings.NewReader(out))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return s
}

// names lists what was selected, in order.
func names(s *stream.Selection) []string {
	var out []string
	for _, f := range s.Selected {
		out = append(out, f.Name)
	}
	return out
}

// answer is s as JSON, without what differs from run to run.
func answer(t *testing.T, s *stream.Selection) string {
	t.Helper()
	s.Timing, s.Memory = stream.Timing{}, stream.Memory{}
	return marshal(t, s)
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDemo(t *testing.T) {
	dir := t.TempDir()
	out := must(t, "demo", "--keep", dir)
	if !strings.Contains(out, "the selection is right") {
		t.Errorf("demo said:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "planted.parquet")); err != nil {
		t.Error(err)
	}
}

// TestCoil20 compares order and errors with an independent run of the greedy paper's
// setting on real data.
func TestCoil20(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "fixtures", "coil20_greedy.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Names  []string
		Errors []float64
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	s := selection(t, "--method", "greedy", "--scale", "none", "-k", "100", "--label", "label", dataset(t, "coil20.parquet"))
	if got := names(s); !slices.Equal(got, want.Names) {
		t.Errorf("order %v\nwant  %v", got, want.Names)
	}
	for i, f := range s.Selected {
		// Both sum 1,440 × 1,024 values; the fixture's own rounding is about 1e-12.
		if e := want.Errors[i+1] / want.Errors[0]; !near(float64(f.Error), e, 1e-9) {
			t.Errorf("rank %d: error %v, want %v", i+1, f.Error, e)
		}
	}
}

func near(a, b, tolerance float64) bool { return a-b <= tolerance*b && b-a <= tolerance*b }

// TestCutsAndThreads: the same rows give the same selection from 1, 7 or 63 files, with any
// number of threads, directly or through statistics files. For the same files, no bit of
// the answer depends on the threads or the limit.
func TestCutsAndThreads(t *testing.T) {
	methods := []string{"greedy", "partgreedy"}
	want := make(map[string][]string)
	for _, n := range []int{1, 7, 63} {
		dir, paths := plant(t, 6300, n)
		for _, method := range methods {
			var bits string
			for _, threads := range []string{"1", "2", "8"} {
				limit := "2GiB"
				if threads == "2" {
					limit = "64MiB"
				}
				s := selection(t, dir, "-k", "9", "--method", method, "--threads", threads, "--memory-limit", limit)
				if want[method] == nil {
					want[method] = names(s)
				}
				if got := names(s); !slices.Equal(got, want[method]) {
					t.Errorf("%s, %d files, %s threads: %v, want %v", method, n, threads, got, want[method])
				}
				if b := answer(t, s); bits == "" {
					bits = b
				} else if b != bits {
					t.Errorf("%s, %d files: %s threads give other bits", method, n, threads)
				}
			}
		}
		all := filepath.Join(dir, "all.ufs")
		args := []string{"merge", "-o", all}
		for _, p := range paths {
			must(t, "scan", p, "-o", p+".ufs")
			args = append(args, p+".ufs")
		}
		must(t, args...)
		for _, method := range methods {
			if got := names(selection(t, "--stats", all, "-k", "9", "--method", method)); !slices.Equal(got, want[method]) {
				t.Errorf("%s, %d files merged: %v, want %v", method, n, got, want[method])
			}
		}
	}
}

// TestOutOfCore: the selection is the same where the Gram matrix G does not fit.
func TestOutOfCore(t *testing.T) {
	path := dataset(t, "warppie10p.parquet")
	for _, method := range []string{"greedy", "partgreedy"} {
		args := []string{path, "-k", "8", "--label", "label", "--method", method}
		in := selection(t, args...)
		out := selection(t, append(args, "--memory-limit", "96MiB")...)
		if out.Passes <= in.Passes {
			t.Fatalf("%s: %d passes: the limit did not make it go out of core", method, out.Passes)
		}
		if a, b := names(in), names(out); !slices.Equal(a, b) {
			t.Errorf("%s: in memory %v, out of core %v", method, a, b)
		}
		for j, c := range out.Columns {
			if want := in.Columns[j]; c.Name != want.Name || !near(float64(c.Explained), float64(want.Explained), 1e-6) || c.Nearest != want.Nearest {
				t.Errorf("%s: column report %+v, want %+v", method, c, want)
			}
		}
	}
}
