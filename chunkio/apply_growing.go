package chunkio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// markEvery is the time between marks, at most: what is behind the last is written again. A mark of 5,000
// columns takes some milliseconds.
const markEvery = 5 * time.Second

// A mark is due before markEvery where it has mostMark bytes, so that it has no more, about, unless one row group has. They
// are copied markCopies times on the way to the disk.
const (
	mostMark   = 512 << 10
	markCopies = 8
)

// growing is one file of many row groups that a later run can go on with: the output, or what waits for
// it. Now and then it is marked behind a row group, with what the footer is to say of the row groups since
// the last mark.
type growing struct {
	file    *atomicfile.File
	recipes []string // by input: of all rows up to its end
	page    int64    // of rows that wait for another form
	every   time.Duration
	last    time.Time // of a mark
	at      marked    // the last row group that this run has written, without a footer

	offset  int64 // where it is gone on with
	footers [][]byte
	to      marked // the last row group that is there; -1, -1 for none
}

// marked is what a mark tells.
type marked struct {
	File, Group int
	Footer      []byte
	Page        int64 // the size of the pages of rows that wait: in less memory they may be too large to be read again
}

// resumeOne writes all files to the one file out, or goes on with what is there of it: of a Parquet file, or
// of the rows that wait as Parquet until all columns of another form are there.
func (a *applier) resumeOne(ctx context.Context, out string, fields []copier.Field, files []int) (err error) {
	g, err := a.grow(ctx, out, fields)
	if err != nil {
		return err
	}
	if a.growing = g; a.opt.Form == FormParquet {
		return a.writeFile(ctx, g.file, fields, a.columns, files)
	}
	defer func() {
		if err != nil && leaves(ctx, err) {
			if temp, ok := g.file.Leave(ctx); ok {
				err = &Unfinished{Place: temp, Err: err}
			}
		}
		g.file.Abort()
	}()
	return a.createOne(ctx, out, fields, files)
}

// grow opens the file that grows on the way to out.
func (a *applier) grow(ctx context.Context, out string, fields []copier.Field) (*growing, error) {
	g := &growing{every: a.opt.marks, last: time.Now(), to: marked{File: -1, Group: -1}}
	if g.every == 0 {
		g.every = markEvery
	}
	var err error
	if g.recipes, err = a.recipesOf(ctx, fields); err != nil {
		return nil, err
	}
	if a.opt.Form != FormParquet {
		g.page = a.waitingPage(len(fields))
	}
	var marks []atomicfile.Finished
	g.file, marks, err = atomicfile.ResumeFile(ctx, out, g.wants)
	if waits, ok := errors.AsType[*atomicfile.Waits](err); ok {
		return nil, &Unfinished{Place: waits.Temp, Err: waits.Err}
	}
	if err != nil {
		return nil, err
	}
	a.report.Warnings = append(a.report.Warnings, stream.PlainTexts(g.file.Remarks())...)
	if len(marks) == 0 {
		a.report.Resumed.count(g.file.Refused())
	}
	if a.opt.Form != FormParquet {
		g.file.Advise(stream.Textf("free some space, or name a {temp-dir} elsewhere, for the rows that wait"))
	}
	for _, f := range marks {
		if err := json.Unmarshal(f.Detail, &g.to); err != nil {
			g.file.Abort()
			return nil, err
		}
		g.offset, g.footers = f.Bytes, append(g.footers, g.to.Footer)
		a.report.Resumed.Rows += f.Rows
	}
	return g, nil
}

// wants reports whether a mark is of what this run writes.
func (g *growing) wants(f atomicfile.Finished) bool {
	var m marked
	return json.Unmarshal(f.Detail, &m) == nil && m.File >= 0 && m.File < len(g.recipes) && m.Group >= 0 && m.Page <= g.page && f.Recipe == g.recipes[m.File]
}

// recipesOf names by input all that shapes the file up to the end of its rows.
func (a *applier) recipesOf(ctx context.Context, fields []copier.Field) ([]string, error) {
	sum := sha256.New()
	for _, f := range fields {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
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

// begin goes on with the file that grows, where there is a beginning of it, and else begins a fresh one.
func (g *growing) begin(to io.Writer, fresh func(io.Writer) (*writer.File, error)) (*writer.File, error) {
	if g == nil || len(g.footers) == 0 {
		return fresh(to)
	}
	w, err := fresh(io.Discard)
	if err != nil {
		return nil, err
	}
	err = w.GoOn(to, g.offset, g.footers)
	if g.footers = nil; err != nil {
		return nil, &stream.OutputError{Path: g.file.Path(), Err: fmt.Errorf("what an interrupted run has left of it cannot be gone on with: %w", err),
			Remedy: stream.PlainText("run the same command again, which begins anew")}
	}
	return w, nil
}

// passes reports whether the file has all rows of input i.
func (g *growing) passes(i int) bool { return g != nil && i < g.to.File }

// has reports whether the file has row group group of input i.
func (g *growing) has(i, group int) bool {
	return g != nil && i == g.to.File && group <= g.to.Group
}

// mark marks the file behind row group group of input i, if it is time.
func (g *growing) mark(w *writer.File, i, group int) error {
	if g == nil {
		return nil
	}
	if g.at = (marked{File: i, Group: group}); time.Since(g.last) < g.every && w.Unmarked() < mostMark {
		return nil
	}
	return g.markHere(w)
}

// markEnd marks the file behind its last row: a later run has nothing to copy.
func (g *growing) markEnd(w *writer.File) error {
	if g == nil || w.Rows == w.MarkedRows() {
		return nil
	}
	return g.markHere(w)
}

func (g *growing) markHere(w *writer.File) error {
	before := w.MarkedRows()
	footer, err := w.Mark()
	if err != nil {
		return err
	}
	detail, err := json.Marshal(marked{g.at.File, g.at.Group, footer, g.page})
	if err != nil {
		return err
	}
	g.last = time.Now()
	return g.file.Mark(g.recipes[g.at.File], w.Rows-before, detail)
}
