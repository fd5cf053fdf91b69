package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// plant writes a planted table into n files of equally many rows, and returns their folder.
func plant(t *testing.T, name string, rows int64, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	must.Do(t, os.Mkdir(dir, 0o700))
	write(t, dir, planted.New(planted.Options{Rows: rows, GroupRow: 500}), n)
	return dir
}

// plantHoled is plant for a table without every 97th value of its third column.
func plantHoled(t *testing.T, name string, rows int64, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	must.Do(t, os.Mkdir(dir, 0o700))
	write(t, dir, holed{planted.New(planted.Options{Rows: rows, GroupRow: 500})}, n)
	return dir
}

// holed is a source without every 97th value of its third column.
type holed struct{ stream.Source }

func (h holed) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		for c, err := range h.Source.Chunks(ctx, r) {
			for i := 0; err == nil && i < c.Rows; i++ {
				if c.Position(i)%97 == 0 {
					c.Col(2)[i] = math.NaN() // which becomes a null
				}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func write(t *testing.T, dir string, table stream.Source, n int) {
	t.Helper()
	rows := table.Rows()
	for i := range int64(n) {
		part := planted.Part{Source: table, Range: stream.Range{From: rows * i / int64(n), To: rows * (i + 1) / int64(n)}}
		must.Do(t, chunkio.WriteParquet(t.Context(), filepath.Join(dir, fmt.Sprintf("part-%d.parquet", i)), part, chunkio.WriteOptions{RowGroupRows: 500}))
	}
}

// ufsStream runs ufs-stream, which must not fail.
func ufsStream(t *testing.T, args ...string) string {
	t.Helper()
	r := execute(t, exec.CommandContext(bounded(t), filepath.Join(os.Getenv(insideVariable), "ufs-stream"), args...))
	if r.code != exit.Done {
		t.Fatalf("ufs-stream %v: exit code %d:\n%s", args, r.code, r.err)
	}
	return r.out
}

// shell runs commands of README.md.
func shell(t *testing.T, dir, script string) outcome {
	t.Helper()
	cmd := exec.CommandContext(bounded(t), "bash", "-e", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "BIN="+os.Getenv(insideVariable))
	return execute(t, cmd)
}

// selection is the names of the features that select chooses, in their order.
func selection(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "selection.json")
	ufsStream(t, append([]string{"select", "-k", "9", "-o", path}, args...)...)
	var s stream.Selection
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(path))(t), &s))
	var names []string
	for _, f := range s.Selected {
		names = append(names, f.Name)
	}
	return fmt.Sprint(names)
}

// section reads a section of a statistics file.
func section(t *testing.T, path, name string, to io.ReaderFrom) chunkio.StatsHeader {
	t.Helper()
	r := must.Get(chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{}))(t)
	defer r.Close()
	body := must.Get(r.SectionReader(name))(t)
	_ = must.Get(to.ReadFrom(body))(t)
	return r.Header
}

// matrix is the centred Gram matrix of a statistics file, and its moments.
func matrix(t *testing.T, path string) (*gram.Moments, *gram.Gram) {
	t.Helper()
	r := must.Get(chunkio.ReadStatsHeader(t.Context(), path, chunkio.FetchOptions{}))(t)
	moments := gram.NewMoments(len(r.Columns), gram.Options{})
	section(t, path, "moments", moments)
	return moments, must.Get(moments.Finish(r.Columns, gram.FinishOptions{Scale: gram.ScaleCenter}))(t)
}

// near wants two lists of entries to agree to 1e-12 of the largest. Sums of 9,000 rows in another
// order differ by at most 9,000 roundings of 2⁻⁵³ of the sum of absolute values, which is 1e-12.
func near(t *testing.T, what string, a, b []float64) {
	t.Helper()
	if len(a) != len(b) || len(a) == 0 {
		t.Fatalf("%s: %d entries, and %d of one run", what, len(a), len(b))
	}
	var largest, off float64
	for i, v := range b {
		largest, off = max(largest, math.Abs(v)), max(off, math.Abs(v-a[i]))
	}
	if !(off <= 1e-12*largest) {
		t.Errorf("%s: off by %g of %g", what, off, largest)
	}
}

// sameMoments wants the statistics in two files to agree.
func sameMoments(t *testing.T, a, b string) {
	t.Helper()
	p, x := matrix(t, a)
	q, y := matrix(t, b)
	if p.Profile.Rows != q.Profile.Rows {
		t.Fatalf("%d rows, and %d of one run", p.Profile.Rows, q.Profile.Rows)
	}
	near(t, "Gram matrix", x.Sym, y.Sym)
	near(t, "means", x.Mean, y.Mean)
}

// sameGraph wants the anchor graphs in two files to agree.
func sameGraph(t *testing.T, a, b string) {
	t.Helper()
	var graphs []*anchor.Graph
	for _, path := range []string{a, b} {
		states := must.Get(anchor.NewStatistics(nil, anchor.Options{}))(t)
		section(t, path, "graph", states)
		_, m := matrix(t, path)
		graphs = append(graphs, must.Get(states.Graph(m))(t))
	}
	x, y := graphs[0], graphs[1]
	if x.Rows != y.Rows || x.M != y.M || x.D != y.D {
		t.Fatalf("%d rows, %d anchors, %d features; of one run %d, %d, %d", x.Rows, x.M, x.D, y.Rows, y.M, y.D)
	}
	near(t, "Delta", x.Delta, y.Delta)
	near(t, "G", x.G.Sym, y.G.Sym)
	near(t, "C", x.C, y.C)
	near(t, "S", x.S, y.S)
}

// kept keeps the bytes of a section.
type kept struct{ bytes.Buffer }

// sameBits wants the same statistics in two files, bit for bit.
func sameBits(t *testing.T, a, b string) {
	t.Helper()
	for _, name := range []string{"profile", "moments", "histograms"} {
		var x, y kept
		section(t, a, name, &x)
		section(t, b, name, &y)
		if x.Len() == 0 || !bytes.Equal(x.Bytes(), y.Bytes()) {
			t.Errorf("%s: %d bytes of %s and %d of %s differ", name, x.Len(), a, y.Len(), b)
		}
	}
}
