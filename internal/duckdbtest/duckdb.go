// Package duckdbtest runs queries in DuckDB, for tests of what this program writes.
package duckdbtest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testtool"
)

//go:embed query.cjs
var script string

// Result is what a query gives: every value as text, null as nil.
type Result struct {
	Columns []string
	Rows    [][]*string
	Error   string // DuckDB's, where it refuses the query
}

// Query runs a query in the folder dir. Where npm is not there to install DuckDB, the test is
// skipped and says so.
func Query(t testing.TB, dir, query string) *Result {
	t.Helper()
	module := testtool.NodeModule(t, "@duckdb/node-api", "1.5.6-r.1")
	var errw bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "node", "-e", script, module)
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, strings.NewReader(query), &errw
	out, err := cmd.Output()
	r := new(Result)
	if err == nil {
		err = json.Unmarshal(out, r)
	}
	if err != nil {
		t.Fatalf("DuckDB: %v\n%s%s", err, out, &errw)
	}
	return r
}
