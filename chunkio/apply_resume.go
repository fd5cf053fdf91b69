package chunkio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Resumed counts the finished output of an interrupted run that Apply reused or wrote again.
type Resumed struct {
	Whole    int   // files of a folder that were reused
	Outdated int   // files written again because their input or the columns to write have changed
	Altered  int   // files written again because they were changed or removed since
	Rows     int64 // rows of one file that were reused
}

func (r *Resumed) countFate(fate atomicfile.Fate) {
	switch fate {
	case atomicfile.Outdated:
		r.Outdated++
	case atomicfile.Altered:
		r.Altered++
	case atomicfile.Whole:
		r.Whole++
	}
}

// Unfinished is the error of an Apply that was interrupted, or stopped by a memory limit or an unavailable store,
// after a part of its output was finished. The next Apply to the same output reuses that part.
type Unfinished struct {
	Place           string // a hidden folder next to the output; the output itself in a store
	Finished, Files int    // of a folder
	Err             error
}

func (e *Unfinished) Error() string { return e.Err.Error() }
func (e *Unfinished) Unwrap() error { return e.Err }

// leavesUnfinished reports whether a run that ends with err keeps its finished part for the next run: because it was
// interrupted, because of a limit that the next run may raise, or because a store was not available.
func leavesUnfinished(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.As(err, new(*stream.MemoryError)) || stream.Temporary(err)
}

// outputRecipe returns a digest of everything that determines the bytes of the output of file i, apart from the other
// files. A finished file with the same recipe need not be written again. The path of the output is not part of the
// digest.
func (a *applier) outputRecipe(i int, columns []copier.Column) (string, error) {
	type column struct {
		Name    string
		Kind    copier.Kind
		Element int    `json:",omitempty"`
		From    string `json:",omitempty"` // a leaf, or the type of a key
		Text    string `json:",omitempty"` // of a key
	}
	f, e := &a.catalog.files[i], a.catalog.list.entryAt(i)
	content := struct {
		Maker, Where, Sparse string
		Form                 Form
		Fingerprint          string
		Bytes                int64
		Version              string    // of an object
		Modified             time.Time // of a local file
		Columns              []column
		Texts                *TextOptions  `json:",omitempty"` // the options that a file of rows was read with
		Kinds                []intake.Kind `json:",omitempty"` // the kinds of its columns, given the other files
	}{Maker: a.opt.Maker, Where: a.opt.Where, Sparse: a.opt.Sparse, Form: a.opt.Form, Fingerprint: formatFingerprint(f.print), Bytes: f.size, Version: e.version}
	texts := a.opt.Texts
	texts.Header, texts.Recorded = a.catalog.texts.currentGuesses().Header, false // the header as it was read, whether given or guessed
	rows := a.catalog.texts.rowsByName(a.catalog.fileName(i))
	if rows != nil || !reflect.DeepEqual(texts, TextOptions{}) {
		content.Texts = &texts
	}
	if rows != nil {
		for _, c := range rows.table.Columns {
			content.Kinds = append(content.Kinds, c.Kind)
		}
	}
	if !place.IsURL(e.path) && !a.catalog.list.isStdin() { // the fingerprint covers all of standard input
		info, err := os.Stat(e.path)
		if err != nil {
			return "", stream.Dataf(a.catalog.fileName(i), "%w", err)
		}
		content.Modified = info.ModTime().UTC()
	}
	for _, c := range columns {
		col := column{Name: c.Name, Kind: c.Kind, Element: c.Element}
		switch c.Kind {
		case copier.FromLeaf:
			col.From = a.catalog.leaves[c.Leaf].Name
			if a.catalog.list.schema != nil { // the schema may have widened the type since
				col.Text = a.catalog.leaves[c.Leaf].Type
			}
		case copier.FromSparse:
			col.From = a.sparseNumber().Name
		case copier.FromPartition:
			text, err := a.catalog.partText(i, c.Part)
			if err != nil {
				return "", err
			}
			if col.Text = text; a.partitionType(c.Part) != "string" {
				col.From = a.partitionType(c.Part)
			}
		}
		content.Columns = append(content.Columns, col)
	}
	text, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

func (a *applier) reuseFinished(ctx context.Context, dir *atomicfile.Dir, i int, rel, recipe string) (bool, error) {
	f, fate, err := dir.CheckFinished(ctx, rel, recipe)
	if err != nil {
		return false, err
	}
	a.report.Resumed.countFate(fate)
	if fate != atomicfile.Whole {
		return false, nil
	}
	a.report.Files++
	a.report.Rows += f.Rows
	a.report.Bytes += f.Bytes
	a.passRows(a.catalog.files[i].countRows())
	return true, nil
}

func (a *applier) passRows(rows int64) {
	a.opt.Meter.Rows.Add(rows)
	a.matches.passRows(rows)
}
