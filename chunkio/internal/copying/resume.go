package copying

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Resumed counts files and rows that an interrupted run had finished, and that Apply reused or wrote again.
type Resumed struct {
	Whole    int   // files of a folder that were reused
	Outdated int   // files written again because their input or the columns to write have changed
	Altered  int   // files written again because they were changed or removed after the run
	Rows     int64 // rows of one file that were reused
}

func (r *Resumed) countFinishedFile(fate atomicfile.Fate) {
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
	Place           string // finished part: a hidden folder next to the output; in a store, the output itself
	Finished, Files int    // numbers of finished files and of all files of an output folder
	Err             error
}

func (e *Unfinished) Error() string { return e.Err.Error() }

func (e *Unfinished) Unwrap() error { return e.Err }

// leavesUnfinished reports whether a run that ends with err keeps its finished part for the next run. It does so if the
// run was interrupted, if the memory limit was too low, because the next run may have a higher limit, and if a store
// was not available.
func leavesUnfinished(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.As(err, new(*stream.MemoryError)) || stream.Temporary(err)
}

// digestOutput returns a digest of everything that determines the bytes of file i's output, except the other input
// files. A finished file with the same recipe need not be written again. The path of the output is not part of the
// digest.
func (p *plan) digestOutput(i int, columns []copier.Column) (string, error) {
	type column struct {
		Name    string
		Kind    copier.Kind
		Element int    `json:",omitempty"`
		From    string `json:",omitempty"` // name of the leaf, or type of the partition key
		Text    string `json:",omitempty"` // value of the partition key, or type of the leaf of a table
	}
	f, e := &p.catalog.Files[i], p.catalog.List.EntryAt(i)
	content := struct {
		Maker, Where, Sparse string
		Form                 Form
		Fingerprint          string
		Bytes                int64
		Version              string    // version of an object
		Modified             time.Time // modification time of a local file
		Columns              []column
		Texts                *settings.TextOptions `json:",omitempty"` // the options for reading a file of rows
		Kinds                []intake.Kind         `json:",omitempty"` // the kinds of its columns, which may depend on other files
	}{Maker: p.opt.Maker, Where: p.opt.Where, Sparse: p.opt.Sparse, Form: p.opt.Form, Fingerprint: storage.FormatFingerprint(f.Fingerprint), Bytes: f.Size, Version: e.Version}
	texts := p.opt.Texts
	texts.Header, texts.Recorded = p.catalog.Texts.CurrentGuesses().Header, false // the header as it was read, whether given or guessed
	rows := p.catalog.Texts.RowsByName(p.catalog.FileName(i))
	if rows != nil || !reflect.DeepEqual(texts, settings.TextOptions{}) {
		content.Texts = &texts
	}
	if rows != nil {
		for _, c := range rows.Table.Columns {
			content.Kinds = append(content.Kinds, c.Kind)
		}
	}
	if !place.IsURL(e.Path) && !p.catalog.List.IsStdin() { // the fingerprint of standard input covers all its bytes
		info, err := os.Stat(e.Path)
		if err != nil {
			return "", stream.Dataf(p.catalog.FileName(i), "%w", err)
		}
		content.Modified = info.ModTime().UTC()
	}
	for _, c := range columns {
		col := column{Name: c.Name, Kind: c.Kind, Element: c.Element}
		switch c.Kind {
		case copier.FromLeaf:
			col.From = p.catalog.Leaves[c.Leaf].Name
			if p.catalog.List.Schema != nil { // the schema may have widened the type since the last run
				col.Text = p.catalog.Leaves[c.Leaf].Type
			}
		case copier.FromSparse:
			col.From = p.sparseNumberType().Name
		case copier.FromPartition:
			text, err := p.catalog.PartitionText(i, c.Part)
			if err != nil {
				return "", err
			}
			if col.Text = text; describePartitionType(p.catalog.Parts[c.Part]) != "string" {
				col.From = describePartitionType(p.catalog.Parts[c.Part])
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

// digestInputs returns for each input a digest of everything that affects the output up to the last row of that input.
func (p *plan) digestInputs(ctx context.Context, fields []copier.Field) ([]string, error) {
	sum := sha256.New()
	for _, f := range fields {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		schema.PrintSchema(f.Node, sum, 1)
		fmt.Fprintln(sum, f.Dict)
	}
	recipes := make([]string, len(p.catalog.Files))
	for i := range recipes {
		own, err := p.digestOutput(i, columnsInFile(p.catalog, i, p.columns))
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(sum, own)
		recipes[i] = hex.EncodeToString(sum.Sum(nil))
	}
	return recipes, nil
}
