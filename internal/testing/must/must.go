// Package must ends a test at an unexpected error.
package must

import (
	"io/fs"
	"os"
	"testing"
)

// Do ends the test unless err is nil.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns the value of a call for use in a test. It ends the test if the call failed:
//
//	file := must.Get(os.Open(path))(t)
func Get[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

// Files returns a map with the contents of all files below dir. The keys are the paths relative to dir.
func Files(t testing.TB, dir string) map[string]string {
	t.Helper()
	files, root := map[string]string{}, os.DirFS(dir)
	Do(t, fs.WalkDir(root, ".", func(rel string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			var text []byte
			text, err = fs.ReadFile(root, rel)
			files[rel] = string(text)
		}
		return err
	}))
	return files
}
