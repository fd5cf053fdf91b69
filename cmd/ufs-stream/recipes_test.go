package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/duckdbtest"
)

// listings runs the Python sessions of a page, compiles its other Python, and reads its YAML.
const listings = `
import doctest, re, sys, warnings
import sklearn, yaml
warnings.simplefilter("ignore")
page = open(sys.argv[1], encoding="utf-8").read()
for block in re.findall("(?s)` + "```python\\n(.*?)```" + `", page):
    compile(block, sys.argv[1], "exec")
for block in re.findall("(?s)` + "```yaml[^\\n]*\\n(.*?)```" + `", page):
    assert isinstance(yaml.safe_load(block), dict), block
sys.exit(doctest.testfile(sys.argv[1], module_relative=False, encoding="utf-8").failed > 0)
`

// checkListings tests the Python and YAML of a page, in the folder in which its commands have run.
func checkListings(t *testing.T, page string) {
	t.Helper()
	if !strings.Contains(read(t, page), "```pycon\n") {
		return
	}
	t.Run("listings", func(t *testing.T) {
		needs(t, "/usr/bin/python3") // Debian's own has the modules
		env := []string{"PYTHONPATH=" + filepath.Join(filepath.Dir(page), "..", "python"), "PYTHONDONTWRITEBYTECODE=1"}
		code, out := outside(t, programFolder(t), env, "/usr/bin/python3", "-c", listings, page)
		if strings.Contains(out, "ModuleNotFoundError: No module named 'sklearn'") || strings.Contains(out, "ModuleNotFoundError: No module named 'yaml'") {
			t.Skip("this test runs what needs scikit-learn and yaml: apt-get install python3-sklearn python3-yaml")
		}
		if code != 0 {
			t.Errorf("exit code %d:\n%s", code, out)
		}
	})
}

// TestRecipeForDBT: the query of docs/recipes.md without its semicolon is one that dbt can put in parentheses.
func TestRecipeForDBT(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must(t, "demo", "--keep", "data")
	must(t, "select", "data", "-k", "6", "-o", "selection.json")
	query := must(t, "apply", "data", "--selection", "selection.json", "--format", "sql", "--from", `{{ ref("events") }}`)
	inner, ok := strings.CutSuffix(strings.TrimSpace(query), ";")
	if !ok {
		t.Fatalf("the query has no semicolon at its end:\n%s", query)
	}
	inner = strings.ReplaceAll(inner, `{{ ref("events") }}`, `"lake"."events"`)
	r := duckdbtest.RunQuery(t, dir, "CREATE SCHEMA lake; CREATE VIEW lake.events AS SELECT * FROM 'data/*.parquet'; CREATE TABLE features AS (\n"+inner+"\n); SELECT count(*), count(COLUMNS(*)) FROM features")
	if r.Error != "" || len(r.Rows) != 1 || len(r.Rows[0]) != 7 || *r.Rows[0][0] != "20000" {
		t.Errorf("DuckDB's error %q, rows %v, want 20000 rows of 6 columns", r.Error, r.Rows)
	}
}
