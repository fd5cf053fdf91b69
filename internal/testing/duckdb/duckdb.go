// Package duckdb runs queries in DuckDB, to read files by a program other than ufs-stream. It starts a Node process
// with the npm package @duckdb/node-api, which answers one query after another.
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

// Package is the name of the npm package that sessions need, and Version its version.
const (
	Package = "@duckdb/node-api"
	Version = "1.5.6-r.1"
)

// Result is the answer to a query. Every value is a text, and null is nil.
type Result struct {
	Columns []string
	Rows    [][]*string
	Error   string // DuckDB's error message, if it refuses the query
}

// Session is a DuckDB process with an empty database, for one goroutine. The caller must close it.
type Session struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
	stderr  bytes.Buffer // output on standard error; complete once the process has ended
}

// StartSession starts a session in the folder dir. module is the folder of the npm package. The process ends with ctx.
func StartSession(ctx context.Context, module, dir string) (*Session, error) {
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
	r, err := s.QueryBatches(statements, func(batch [][]*string) { rows = append(rows, batch...) })
	if err == nil {
		r.Rows = rows
	}
	return r, err
}

// QueryBatches runs a query with a result of any size, and passes its rows to the function take, a batch at a time. If
// DuckDB refuses the query, the error is nil and Result.Error contains the reason. After other errors the session is
// unusable.
func (s *Session) QueryBatches(statements string, take func(batch [][]*string)) (*Result, error) {
	return s.sendRequest(statements, take)
}

// RestartIn begins anew in the folder dir, with an empty database.
func (s *Session) RestartIn(dir string) error {
	r, err := s.sendRequest(struct{ Dir string }{dir}, nil)
	if err == nil && r.Error != "" {
		err = fmt.Errorf("DuckDB in %s: %s", dir, r.Error)
	}
	return err
}

func (s *Session) sendRequest(request any, take func(batch [][]*string)) (*Result, error) {
	if err := json.NewEncoder(s.in).Encode(request); err != nil {
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

// errEnded waits for the process to end. It adds the exit status and the error output of the process to err.
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
	_ = s.command.Wait() // all queries are answered, or QueryBatches has reported the error
}
