package duckdbtest

import (
	"slices"
	"testing"
)

// TestQuery: columns, rows, nulls, and what DuckDB refuses.
func TestQuery(t *testing.T) {
	r := Query(t, t.TempDir(), `SELECT 1 AS a, NULL AS "b""c" UNION ALL SELECT 2, 'x'`)
	if r.Error != "" || !slices.Equal(r.Columns, []string{"a", `b"c`}) || len(r.Rows) != 2 || *r.Rows[0][0] != "1" || r.Rows[0][1] != nil || *r.Rows[1][1] != "x" {
		t.Errorf("%+v", r)
	}
	if r := Query(t, t.TempDir(), "SELECT nothing"); r.Error == "" {
		t.Errorf("%+v", r)
	}
}
