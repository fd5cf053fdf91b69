package copying

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxMarkInterval is the longest time between two marks of a growing file. A run that resumes the file writes the rows
// after the last mark again. Writing a mark for 5,000 columns takes some milliseconds.
const maxMarkInterval = 5 * time.Second

// As soon as the next mark has maxMarkBytes bytes, it is written without waiting for maxMarkInterval. A mark is hardly
// longer than maxMarkBytes, unless the footer entry of a single row group is longer. Up to markCopies copies of a mark
// are in memory while it is written.
const (
	maxMarkBytes = 512 << 10

	markCopies = 8
)

// growingFile is a file of row groups that a later run can resume: a Parquet output, or the rows stored as Parquet for
// another form of output. From time to time a mark is written after a row group. The mark records the footer entries of
// the row groups since the previous mark.
type growingFile struct {
	file         *atomicfile.File
	recipes      []string // by input: digest of all that determines the output up to the input's last row
	page         int64    // page size in bytes of the rows that are stored for an Arrow or CSV output; 0 for Parquet
	markInterval time.Duration
	lastMark     time.Time // time of the last mark
	lastWritten  fileMark  // the last row group that this run has written; Footer is not set

	resumeOffset int64    // offset in the file of the end of the resumed part
	footers      [][]byte // footer entries of the resumed part, by mark
	resumedTo    fileMark // the last row group of the resumed part; -1, -1 for none
}

// fileMark is the content of a mark: the last complete row group and the footer entries since the previous mark.
type fileMark struct {
	File, Group int
	Footer      []byte
	Page        int64 // page size of stored rows: with less memory the pages may be too large to be read again
}

// resumeSingleFile writes the input files, whose indices are in files, to the one file out, or resumes an interrupted
// run that did. The growing file becomes out itself if the form is Parquet; otherwise it stores the rows as Parquet
// until all columns are copied.
func (a *applier) resumeSingleFile(ctx context.Context, out string, fields []copier.Field, files []int) (err error) {
	g, err := a.openGrowingFile(ctx, out, fields)
	if err != nil {
		return err
	}
	if a.growing = g; a.opt.Form == FormParquet {
		return a.writeFile(ctx, g.file, fields, a.columns, files)
	}
	defer func() {
		if err != nil && leavesUnfinished(ctx, err) {
			if temp, ok := g.file.LeaveForResume(ctx); ok {
				err = &Unfinished{Place: temp, Err: err}
			}
		}
		g.file.Abort()
	}()
	return a.createSingleFile(ctx, out, fields, files)
}

func (a *applier) openGrowingFile(ctx context.Context, out string, fields []copier.Field) (*growingFile, error) {
	g := &growingFile{markInterval: a.opt.markInterval, lastMark: time.Now(), resumedTo: fileMark{File: -1, Group: -1}}
	g.markInterval = cmp.Or(g.markInterval, maxMarkInterval)
	var err error
	if g.recipes, err = a.digestInputs(ctx, fields); err != nil {
		return nil, err
	}
	if a.opt.Form != FormParquet {
		g.page = a.rowStorePageBytes(len(fields))
	}
	var marks []atomicfile.FinishedFile
	g.file, marks, err = atomicfile.ResumeFile(ctx, out, g.isUsableMark)
	if waits, ok := errors.AsType[*atomicfile.WaitingError](err); ok {
		return nil, &Unfinished{Place: waits.Temp, Err: waits.Err}
	}
	if err != nil {
		return nil, err
	}
	a.report.Warnings = append(a.report.Warnings, stream.PlainTexts(g.file.Remarks())...)
	if len(marks) == 0 {
		a.report.Resumed.countFinishedFile(g.file.RefusalFate())
	}
	if a.opt.Form != FormParquet {
		g.file.SetRemedy(stream.Textf("free some space, or name a {temp-dir} elsewhere, for the rows that wait"))
	}
	for _, f := range marks {
		if err := json.Unmarshal(f.Detail, &g.resumedTo); err != nil {
			g.file.Abort()
			return nil, err
		}
		g.resumeOffset, g.footers = f.Bytes, append(g.footers, g.resumedTo.Footer)
		a.report.Resumed.Rows += f.Rows
	}
	return g, nil
}

// isUsableMark reports whether the rows up to a mark are the same in this run, so that it can continue from there.
func (g *growingFile) isUsableMark(f atomicfile.FinishedFile) bool {
	var m fileMark
	return json.Unmarshal(f.Detail, &m) == nil && m.File >= 0 && m.File < len(g.recipes) && m.Group >= 0 && m.Page <= g.page && f.Recipe == g.recipes[m.File]
}

func (g *growingFile) resumeOrBeginFile(to io.Writer, fresh func(io.Writer) (*writer.File, error)) (*writer.File, error) {
	if g == nil || len(g.footers) == 0 {
		return fresh(to)
	}
	w, err := fresh(io.Discard)
	if err != nil {
		return nil, err
	}
	err = w.Resume(to, g.resumeOffset, g.footers)
	if g.footers = nil; err != nil {
		return nil, &stream.OutputError{Path: g.file.Path(), Err: fmt.Errorf("the part that an interrupted run left cannot be continued: %w", err),
			Remedy: stream.PlainText("run the same command again: it begins anew")}
	}
	return w, nil
}

// hasInput reports whether the resumed part contains all rows of input i.
func (g *growingFile) hasInput(i int) bool { return g != nil && i < g.resumedTo.File }

// hasGroup reports whether the resumed part contains row group group of input i.
func (g *growingFile) hasGroup(i, group int) bool {
	return g != nil && i == g.resumedTo.File && group <= g.resumedTo.Group
}

// markGroup marks the file after row group group of input i, if a mark is due.
func (g *growingFile) markGroup(w *writer.File, i, group int) error {
	if g == nil {
		return nil
	}
	if g.lastWritten = (fileMark{File: i, Group: group}); time.Since(g.lastMark) < g.markInterval && w.UnmarkedBytes() < maxMarkBytes {
		return nil
	}
	return g.writeMark(w)
}

// markEnd marks the file after its last row, so that a later run has nothing to copy.
func (g *growingFile) markEnd(w *writer.File) error {
	if g == nil || w.Rows == w.MarkedRows() {
		return nil
	}
	return g.writeMark(w)
}

func (g *growingFile) writeMark(w *writer.File) error {
	before := w.MarkedRows()
	footer, err := w.Mark()
	if err != nil {
		return err
	}
	detail, err := json.Marshal(fileMark{g.lastWritten.File, g.lastWritten.Group, footer, g.page})
	if err != nil {
		return err
	}
	g.lastMark = time.Now()
	return g.file.RecordMark(g.recipes[g.lastWritten.File], w.Rows-before, detail)
}
