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

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// expectation is the expected result of reading a file. A test compares every bit of the values, but only the kind and
// the column of an error.
type expectation struct {
	File    string         `json:"file"` // suite and name
	Outcome outcome        `json:"outcome"`
	Code    int            `json:"code,omitempty"`   // exit code of a refusal
	Column  string         `json:"column,omitempty"` // column that the refusal names
	Rows    int64          `json:"rows,omitempty"`
	Leaves  []expectedLeaf `json:"leaves,omitempty"`
	LeftOut []string       `json:"left_out,omitempty"` // names of columns
}

// expectedLeaf is the expected content of a leaf: its first few values, for people, and a digest of all values.
type expectedLeaf struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	First  []string `json:"first"`
	Digest string   `json:"digest"`
	Judge  string   `json:"judge,omitempty"` // other reader that gave the same values, if any
}

func makeExpectation(ctx context.Context, f file) expectation {
	e := expectation{File: path.Join(f.suite, f.name), Outcome: wasRead}
	r, err := readFile(ctx, f.path)
	if err != nil {
		e.Outcome, e.Code = refused, exit.CodeOf(err)
		if a := classifyFailure(e.Code, err.Error(), f.path); a.outcome != refused {
			e.Outcome = a.outcome
		}
		if data, ok := errors.AsType[*stream.DataError](err); ok {
			e.Column = data.Column
		}
		return e
	}
	e.Rows = r.rows
	for _, l := range r.leaves {
		e.Leaves = append(e.Leaves, makeExpectedLeaf(l))
	}
	for _, l := range r.leftOut {
		e.LeftOut = append(e.LeftOut, l.Name)
	}
	return e
}

func makeExpectedLeaf(l leaf) expectedLeaf {
	const shown = 4
	words := convert.Each(l.values, formatValue)
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return expectedLeaf{Name: l.Name, Type: l.Type, First: words[:min(len(words), shown)], Digest: hex.EncodeToString(sum[:8])}
}

// The values of Judge: DuckDB has read the same values from the file itself, or from a copy in Parquet.
const (
	judgeFile = "DuckDB"
	judgeCopy = "DuckDB, of the copy"
)

func (r *run) encodeExpectations(ctx context.Context) ([]byte, error) {
	var lines bytes.Buffer
	for i := range r.findings {
		f := &r.findings[i]
		if len(f.listFailures()) > 0 || len(f.listDifferences()) > 0 {
			return nil, fmt.Errorf("corpora: nothing is to be expected while %s/%s is not read as it should be", f.suite, f.name)
		}
		e := makeExpectation(ctx, f.file)
		for j := range e.Leaves {
			if l := &e.Leaves[j]; slices.Contains(f.comparison.comparedLeaves, l.Name) {
				l.Judge = judgeCopy
				if f.askedDuckDB {
					l.Judge = judgeFile
				}
			}
		}
		if err := json.NewEncoder(&lines).Encode(e); err != nil {
			return nil, err
		}
	}
	return lines.Bytes(), nil
}
