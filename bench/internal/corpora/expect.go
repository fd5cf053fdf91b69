package corpora

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// expectation is what a file is to be read as. Of messages only the kind and the column are held to, of
// values every bit.
type expectation struct {
	File    string         `json:"file"` // suite and name
	Outcome outcome        `json:"outcome"`
	Code    int            `json:"code,omitempty"`   // the exit code of a refusal
	Column  string         `json:"column,omitempty"` // that a refusal names
	Rows    int64          `json:"rows,omitempty"`
	Leaves  []expectedLeaf `json:"leaves,omitempty"`
	LeftOut []string       `json:"left_out,omitempty"` // columns
}

// expectedLeaf is a feature and its values: the first few for people, and a digest of all.
type expectedLeaf struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	First  []string `json:"first"`
	Digest string   `json:"digest"`
	Judge  string   `json:"judge,omitempty"` // who read the same values, if anybody
}

// expect reads a file in this process, as the expectation that this fulfils.
func expect(ctx context.Context, f file) expectation {
	e := expectation{File: path.Join(f.suite, f.name), Outcome: wasRead}
	r, err := read(ctx, f.path)
	if err != nil {
		e.Outcome, e.Code = refused, exit.Code(err)
		if a := judge(e.Code, err.Error(), f.path); a.outcome != refused {
			e.Outcome = a.outcome
		}
		var data *stream.DataError
		if errors.As(err, &data) {
			e.Column = data.Column
		}
		return e
	}
	e.Rows = r.rows
	for _, l := range r.leaves {
		e.Leaves = append(e.Leaves, expectLeaf(l))
	}
	for _, l := range r.leftOut {
		e.LeftOut = append(e.LeftOut, l.Name)
	}
	return e
}

func expectLeaf(l leaf) expectedLeaf {
	const shown = 4
	words := make([]string, len(l.values))
	for i, v := range l.values {
		words[i] = word(v)
	}
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return expectedLeaf{Name: l.Name, Type: l.Type, First: words[:min(len(words), shown)], Digest: hex.EncodeToString(sum[:8])}
}

// The judges of leaves: DuckDB, of the file or of its copy.
const (
	ofFile = "DuckDB"
	ofCopy = "DuckDB, of the copy"
)

// expectations are those of all files of the run, a line of JSON for each.
func (r *run) expectations(ctx context.Context) ([]byte, error) {
	var lines bytes.Buffer
	for i := range r.findings {
		f := &r.findings[i]
		if len(f.failures()) > 0 || len(f.different()) > 0 {
			return nil, fmt.Errorf("corpora: nothing is to be expected while %s/%s is not read as it should be", f.suite, f.name)
		}
		e := expect(ctx, f.file)
		for j := range e.Leaves {
			if l := &e.Leaves[j]; slices.Contains(f.beside.judged, l.Name) {
				l.Judge = ofCopy
				if f.asked {
					l.Judge = ofFile
				}
			}
		}
		if err := json.NewEncoder(&lines).Encode(e); err != nil {
			return nil, err
		}
	}
	return lines.Bytes(), nil
}
