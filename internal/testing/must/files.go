package must

import (
	"io/fs"
	"os"
	"testing"
)

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
