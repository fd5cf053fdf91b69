package duckdbtest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/duckdb"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestQuery: columns, rows, nulls, no rows, and what DuckDB refuses.
func TestQuery(t *testing.T) {
	r := RunQuery(t, t.TempDir(), `SELECT 1 AS a, NULL AS "b""c" UNION ALL SELECT 2, 'x'`)
	if r.Error != "" || !slices.Equal(r.Columns, []string{"a", `b"c`}) || len(r.Rows) != 2 || *r.Rows[0][0] != "1" || r.Rows[0][1] != nil || *r.Rows[1][1] != "x" {
		t.Errorf("query: got %+v, want columns a and b\"c, rows (1, null) and (2, x)", r)
	}
	if r := RunQuery(t, t.TempDir(), "SELECT nothing"); r.Error == "" {
		t.Errorf("query of an unknown column: got %+v, want an error", r)
	}
}

// TestSession: one session answers queries of any size one after another, even after a query that fails. The error of
// a process that ended has its output.
func TestSession(t *testing.T) {
	s := StartSession(t, t.TempDir())
	for _, n := range []int{0, 1, 5000, -1, 2} {
		query := "SELECT range AS \"a\nb\" FROM range(" + strconv.Itoa(n) + ")"
		if n < 0 {
			query = "SELECT *\nFROM nowhere"
		}
		r := must.Get(s.Query(query))(t)
		if n < 0 && r.Error == "" || n >= 0 && (r.Error != "" || len(r.Rows) != n || r.Columns[0] != "a\nb") {
			t.Errorf("%s: %d rows, %v, %q", query, len(r.Rows), r.Columns, r.Error)
		}
		if n > 0 && *r.Rows[n-1][0] != strconv.Itoa(n-1) {
			t.Errorf("%s: the last row is %s", query, *r.Rows[n-1][0])
		}
	}
	broken := must.Get(duckdb.StartSession(t.Context(), "nowhere", t.TempDir()))(t)
	if _, err := broken.Query("SELECT 1"); err == nil || !strings.Contains(err.Error(), "Cannot find module 'nowhere'") {
		t.Errorf("a session without its module: %v", err)
	}
}
