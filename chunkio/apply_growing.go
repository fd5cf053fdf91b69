package chunkio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// markEvery is the time between marks: what is behind the last is written again. A mark of 5,000
// columns takes some milliseconds.
const markEvery = 5 * time.Second

// growing is one output file of many row groups that a later run can go on with. Now and then it is
// marked behind a row group, with what the footer is to say of the row groups since the last mark.
type growing struct {
	file    *atomicfile.File
	recipes []string // by input: of all rows up to its end
	every   time.Duration
	last    time.Time // of a mark

	offset  int64 // where it is gone on with
	footers [][]byte
	to      marked // the last row group that is there; -1, -1 for none
}

// marked is what a mark tells.
type marked struct {
	File, Group int
	Footer      []byte
}

// resumeOne writes all files to the one Parquet file out, or goes on with what is there of it.
func (a *applier) resumeOne(ctx context.Context, out string, fields []copier.Field, files []int) error {
	g := &growing{every: a.opt.marks, last: time.Now(), to: marked{File: -1, Group: -1}}
	if g.every == 0 {
		g.every = markEvery
	}
	var err error
	if g.recipes, err = a.recipesOf(fields); err != nil {
		return err
	}
	var marks []atomicfile.Finished
	g.file, marks, err = atomicfile.ResumeFile(ctx, out, g.wants)
	if err != nil {
		return err
	}
	for _, f := range marks {
		if err := json.Unmarshal(f.Detail, &g.to); err != nil {
			g.file.Abort()
			return err
		}
		g.offset, g.footers = f.Bytes, append(g.footers, g.to.Footer)
		a.report.Resumed.Rows += f.Rows
	}
	a.growing = g
	return a.writeFile(ctx, g.file, fields, a.columns, files)
}

// wants reports whether a mark is of what this run writes.
func (g *growing) wants(f atomicfile.Finished) bool {
	var m marked
	return json.Unmarshal(f.Detail, &m) == nil && m.File >= 0 && m.File < len(g.recipes) && m.Group >= 0 && f.Recipe == g.recipes[m.File]
}

// recipesOf names by input all that shapes the file up to the end of its rows.
func (a *applier) recipesOf(fields []copier.Field) ([]string, error) {
	sum := sha256.New()
	for _, f := range fields {
		schema.PrintSchema(f.Node, sum, 1)
		fmt.Fprintln(sum, f.Dict)
	}
	recipes := make([]string, len(a.catalog.files))
	for i := range recipes {
		own, err := a.recipe(i, a.columnsIn(i, a.columns))
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(sum, own)
		recipes[i] = hex.EncodeToString(sum.Sum(nil))
	}
	return recipes, nil
}

// beginParquet begins a Parquet file, or goes on with it.
func (a *applier) beginParquet(out *atomicfile.File, nodes schema.FieldList, dict []bool, annotations parquet.Annotations) (*writer.File, error) {
	if g := a.growing; g != nil && len(g.footers) > 0 {
		w, err := writer.GoOn(out, nodes, dict, annotations, a.opt.Threads, g.offset, g.footers)
		if g.footers = nil; err != nil {
			err = &stream.OutputError{Path: out.Path(), Err: fmt.Errorf("what an interrupted run has left of it cannot be gone on with: %w", err),
				Remedy: stream.PlainText("run the same command again, which begins anew")}
		}
		return w, err
	}
	return writer.NewAnnotated(out, nodes, dict, annotations, a.opt.Threads)
}

// passes reports whether the file has all rows of input i.
func (g *growing) passes(i int) bool { return g != nil && i < g.to.File }

// has reports whether the file has row group group of input i.
func (g *growing) has(i, group int) bool {
	return g != nil && i == g.to.File && group <= g.to.Group
}

// mark marks the file behind row group group of input i, if it is time.
func (g *growing) mark(w *writer.File, i, group int) error {
	if g == nil || time.Since(g.last) < g.every {
		return nil
	}
	before := w.MarkedRows()
	footer, err := w.Mark()
	if err != nil {
		return err
	}
	detail, err := json.Marshal(marked{i, group, footer})
	if err != nil {
		return err
	}
	g.last = time.Now()
	return g.file.Mark(g.recipes[i], w.Rows-before, detail)
}
