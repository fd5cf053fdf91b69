// Package duckdb asks DuckDB, of the npm package @duckdb/node-api, for others' reading of files: a process
// of Node answers one query after another.
package duckdb

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

//go:embed session.cjs
var sessionScript string

// Package and Version are the npm package that sessions need.
const (
	Package = "@duckdb/node-api"
	Version = "1.5.6-r.1"
)

// Result is what a query gives: every value as text, null as nil.
type Result struct {
	Columns []string
	Rows    [][]*string
	Error   string // DuckDB's, where it refuses the query
}

// Session is a process of DuckDB with an empty database. Its methods are for one goroutine. Close it.
type Session struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
	stderr  bytes.Buffer // on standard error; read once the process has ended
}

// Start starts a session in the folder dir. module is the folder of the npm package. The session
// ends with ctx.
func Start(ctx context.Context, module, dir string) (*Session, error) {
	s := &Session{command: exec.CommandContext(ctx, "node", "-e", sessionScript, module)}
	s.command.Dir, s.command.Stderr = dir, &s.stderr
	out, err := s.command.StdoutPipe()
	if err == nil {
		s.in, err = s.command.StdinPipe()
	}
	if err == nil {
		err = s.command.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("DuckDB: %w", err)
	}
	s.out = json.NewDecoder(out)
	return s, nil
}

// Query runs statements and returns the rows of the last one.
func (s *Session) Query(statements string) (*Result, error) {
	var rows [][]*string
	r, err := s.Each(statements, func(batch [][]*string) { rows = append(rows, batch...) })
	if err == nil {
		r.Rows = rows
	}
	return r, err
}

// Each is Query for results of any size: it hands the rows over in batches. An error means that the
// session is of no further use; what DuckDB refuses is none.
func (s *Session) Each(statements string, take func(batch [][]*string)) (*Result, error) {
	if err := json.NewEncoder(s.in).Encode(statements); err != nil {
		return nil, s.errEnded(err)
	}
	whole := new(Result)
	for {
		var part Result
		if err := s.out.Decode(&part); err != nil {
			return nil, s.errEnded(err)
		}
		switch {
		case part.Error != "":
			return &Result{Error: part.Error}, nil
		case part.Columns != nil:
			whole.Columns = part.Columns
		case part.Rows != nil:
			take(part.Rows)
		default:
			return whole, nil
		}
	}
}

// errEnded waits for the process and tells what it said.
func (s *Session) errEnded(err error) error {
	s.in.Close()
	if failed := s.command.Wait(); failed != nil {
		err = failed
	}
	return fmt.Errorf("DuckDB ended: %w\n%s", err, strings.TrimSpace(s.stderr.String()))
}

// Close ends the session.
func (s *Session) Close() {
	s.in.Close()
	_ = s.command.Wait() // it answered everything, or Each has told why not
}
