package rowstest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Fixtures reads the cases of testdata/fixtures/<kind>_*.json, or of the folder that
// UFS_FIXTURES names: a list of cases, or a case and more of them.
func Fixtures[T any](t testing.TB, kind string) map[string]*T {
	t.Helper()
	dir := os.Getenv("UFS_FIXTURES")
	if dir == "" {
		dir = "../testdata/fixtures"
	}
	paths, err := filepath.Glob(filepath.Join(dir, kind+"_*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s_*.json in %s: %v", kind, dir, err)
	}
	cases := make(map[string]*T)
	for _, path := range paths {
		var first T
		var file struct{ Cases, More []*T }
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &file)
		}
		if err == nil && file.Cases == nil {
			if err = json.Unmarshal(data, &first); err == nil {
				cases[filepath.Base(path)] = &first
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for i, c := range append(file.Cases, file.More...) {
			cases[fmt.Sprintf("%s/%d", filepath.Base(path), i)] = c
		}
	}
	return cases
}
