package place

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	for name, good := range map[string]bool{
		"x.parquet": true, "a/x.parquet": true, "k=v/a b/é.parquet": true, "...": filepath.Separator == '/', "a/.x": true, "c\xff": true,
		"": false, ".": false, "..": false, "/x": false, "a/": false, "a//x": false, "./x": false, "a/./x": false, "../x": false, "a/../x": false, "a/..": false,
		`a\x`: false, `..\x`: false, `\\h\s\x`: false, "a\x00": false, "c:x": filepath.Separator == '/', "NUL": filepath.Separator == '/', "a./x": filepath.Separator == '/',
	} {
		if err := CheckName(name); (err == nil) != good {
			t.Errorf("%q: %v, want %v", name, err, good)
		}
	}
	for name, want := range map[string]bool{"a.": true, "a /x": true, ".. /x": true, "a.b/c d": false, ".x": false} {
		if got := hasShortenedPart(name); got != want {
			t.Errorf("%q is shortened: %v, want %v", name, got, want)
		}
	}
}

// FuzzCheckName: a name that passes leads below the folder, here and in a store, and has one spelling.
func FuzzCheckName(f *testing.F) {
	for _, name := range []string{"a/b", "../x", "a/../../x", `a\..\x`, "/x", "C:/x", "a//b", "a?endpoint=http://h", "NUL", "a\x00b", " ", "..."} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if CheckName(name) != nil {
			return
		}
		inside := filepath.FromSlash("/top/folder/")
		if got := JoinBelow(filepath.FromSlash("/top/folder"), name); !strings.HasPrefix(got, inside) || filepath.ToSlash(got[len(inside):]) != name || path.Clean(name) != name {
			t.Errorf("%q leads to %q", name, got)
		}
		if rel, ok := RelativePath("s3://b/folder", JoinBelow("s3://b/folder", name)); !ok || rel != name {
			t.Errorf("%q leads to %q of a store, %q below the folder", name, JoinBelow("s3://b/folder", name), rel)
		}
	})
}
