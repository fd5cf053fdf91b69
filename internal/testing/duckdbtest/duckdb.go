// Package duckdbtest runs queries in DuckDB, to test the files and queries that this program writes.
package duckdbtest

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/duckdb"
	"github.com/ufs-stream/ufs-stream/internal/testing/testtool"
)

// ModuleFolder returns the folder of DuckDB's npm package. It skips the test if npm is missing.
func ModuleFolder(t testing.TB) string {
	t.Helper()
	return testtool.NodeModule(t, duckdb.Package, duckdb.Version)
}

// RunQuery runs a query in the folder dir, in a session of its own.
func RunQuery(t testing.TB, dir, query string) *duckdb.Result {
	t.Helper()
	s := StartSession(t, dir)
	defer s.Close()
	return QuerySession(t, s, query)
}

// StartSession starts a session in the folder dir. It ends with the test.
func StartSession(t testing.TB, dir string) *duckdb.Session {
	t.Helper()
	s, err := duckdb.StartSession(t.Context(), ModuleFolder(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// QuerySession runs a query in a session.
func QuerySession(t testing.TB, s *duckdb.Session, query string) *duckdb.Result {
	t.Helper()
	r, err := s.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
