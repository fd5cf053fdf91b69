// Package duckdbtest runs queries in DuckDB, to test the files and queries that this program writes.
package duckdbtest

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/duckdb"
	"github.com/ufs-stream/ufs-stream/internal/testtool"
)

// ModuleFolder returns the folder of DuckDB's npm package. It skips the test if npm is missing.
func ModuleFolder(t testing.TB) string {
	t.Helper()
	return testtool.NodeModule(t, duckdb.Package, duckdb.Version)
}

// RunQuery runs a query in the folder dir, in a session of its own.
func RunQuery(t testing.TB, dir, query string) *duckdb.Result {
	t.Helper()
	return RunQueries(t, dir, query)[0]
}

// RunQueries runs queries in the folder dir, one after the other in a session of their own.
func RunQueries(t testing.TB, dir string, queries ...string) []*duckdb.Result {
	t.Helper()
	s, err := duckdb.StartSession(t.Context(), ModuleFolder(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	results := make([]*duckdb.Result, len(queries))
	for i, query := range queries {
		if results[i], err = s.Query(query); err != nil {
			t.Fatal(err)
		}
	}
	return results
}
