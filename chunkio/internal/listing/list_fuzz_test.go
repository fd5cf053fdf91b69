package listing

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// FuzzList reads @lists of any text. The files that they name exist, are returned once, in the order of their bytes,
// and can be named by a list of themselves; all else is refused as usage or as bad data. Places outside of the folder
// are left out: lines that name some are read, and not looked for. A ".." is followed through links to an absolute
// place, so that the place need not stand in the text.
func FuzzList(f *testing.F) {
	for _, text := range []string{
		"a.csv\nb.csv\n", "# comment\r\n\r\n a.csv \r\n", "\ufeffa.csv", "*.csv", "day=1", "a.csv\na.csv", "day=*/\n", "@list", "a.csv\n@list\n", "", "\n#\n", "a.csv\x00", "[", "{a,b}.csv",
		"./a.csv\nday=1/c.csv", "-", "a.csv\n-\n", "day=1\nday=1/c.csv", "**/c.csv", "gone.csv", "*", "..", "a.plan.json", "\xff",
	} {
		f.Add(text)
	}
	dir := f.TempDir()
	for _, name := range []string{"a.csv", "b.csv", "[", "day=1/c.csv", "day=2/d.csv"} {
		path := filepath.Join(dir, name)
		must.Do(f, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(f, os.WriteFile(path, []byte("x"), 0o600))
	}
	read := func(t *testing.T, text string) (places []string, list *List, err error) {
		must.Do(t, os.WriteFile("list", []byte(text), 0o600))
		a := opening.NewAccess(settings.WithDefaults(settings.Options{}))
		if places, err = ExpandListArgument(t.Context(), a, "@list"); err != nil {
			return nil, nil, err
		}
		for _, p := range places {
			if strings.HasPrefix(p, "/") || strings.Contains(p, "..") || strings.Contains(p, ":") || strings.HasPrefix(p, "~") || strings.Contains(p, "\\") {
				return places, nil, nil
			}
		}
		list, err = ExpandInputs(t.Context(), a, []string{"@list"})
		return places, list, err
	}
	f.Fuzz(func(t *testing.T, text string) {
		t.Chdir(dir)
		places, list, err := read(t, text)
		for _, p := range places {
			if p == "" || p[0] == '#' || p != strings.TrimSpace(p) || strings.Contains(p, "\n") || !strings.Contains(text, p) && !strings.Contains(text, "..") {
				t.Errorf("%q is a place of %q", p, text)
			}
		}
		switch {
		case err != nil && !errors.As(err, new(*stream.UsageError)) && !errors.As(err, new(*stream.DataError)):
			t.Errorf("expanding the list %q: %T %v, want a UsageError or DataError", text, err, err)
		case err != nil || list == nil || list.IsStdin():
			return
		}
		paths := list.Paths()
		if len(paths) == 0 || !slices.IsSorted(paths) || len(slices.Compact(slices.Clone(paths))) < len(paths) {
			t.Errorf("%q names %q", text, paths)
		}
		for _, path := range paths {
			if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
				t.Errorf("%q names %q: %v", text, path, err)
			}
		}
		if _, again, err := read(t, strings.Join(paths, "\n")); err != nil || !slices.Equal(again.Paths(), paths) {
			t.Errorf("%q names %q, and a list of these %v: %v", text, paths, again, err)
		}
	})
}
