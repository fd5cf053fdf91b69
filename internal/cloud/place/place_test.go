package place

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

const query = "?endpoint=http://127.0.0.1:7070&region=r"

func TestParts(t *testing.T) {
	for _, c := range []struct{ arg, name, ext, base, renamed, below string }{
		{"a/b.csv", "a/b.csv", ".csv", "b.csv", "a/b.html", filepath.Join("a/b.csv", "x", "y")},
		{"file:///a/b.csv", "file:///a/b.csv", ".csv", "b.csv", "file:///a/b.html", filepath.Join("/a/b.csv", "x", "y")},
		{"s3://b/k.json" + query, "s3://b/k.json" + query, ".json", "k.json", "s3://b/k.html" + query, "s3://b/k.json/x/y" + query},
		{"s3://b/d.x/k", "s3://b/d.x/k", "", "k", "s3://b/d.x/k.html", "s3://b/d.x/k/x/y"},
		{"s3://b/d/" + query, "s3://b/d/" + query, "", "d", "s3://b/d/.html" + query, "s3://b/d/x/y" + query},
		{"s3://b", "s3://b/", "", ".", "s3://b/.html", "s3://b/x/y"},
		{"s3://b/what?.csv" + query, "s3://b/what?.csv" + query, ".csv", "what?.csv", "s3://b/what?.html" + query, "s3://b/what?.csv/x/y" + query},
		{"https://h/a/k.json?sig=SECRET", "https://h/a/k.json", ".json", "k.json", "https://h/a/k.html", "https://h/a/k.json/x/y?sig=SECRET"},
		{"s3://b/k.json?mine=SECRET", "s3://b/k.json?mine=…?anonymous=false", ".json?mine=SECRET", "k.json?mine=SECRET", "", "s3://b/k.json?mine=SECRET/x/y?anonymous=false"},
		{"HTTPS://h/k.json?sig=SECRET", "HTTPS://h/k.json", "", "", "", ""},
		{"mine=https://h/k.json?sig=SECRET", "mine=https://h/k.json", "", "", "", ""},
		{"abfss://c@a.dfs.core.windows.net/k?sig=SECRET", "abfss://c@a.dfs.core.windows.net/k", "", "", "", ""},
		{"a&sig=1.parquet", "a&sig=1.parquet", ".parquet", "a&sig=1.parquet", "a&sig=1.html", filepath.Join("a&sig=1.parquet", "x", "y")},
		{"s3://KEY:SECRET@b/k.json", "s3://…", "", ".", "s3://…", "s3://KEY:SECRET@b/k.json"},
	} {
		got := []string{DisplayName(c.arg), Ext(c.arg), Base(c.arg), JoinBelow(c.arg, filepath.Join("x", "y")), WithExt(c.arg, ".html")}
		want := []string{c.name, c.ext, c.base, c.below, c.renamed}
		for i := range got {
			if got[i] != want[i] && want[i] != "" {
				t.Errorf("%s, part %d: %q, want %q", c.arg, i, got[i], want[i])
			}
		}
	}
}

func TestLocal(t *testing.T) {
	for arg, want := range map[string]string{
		"": "", "-": "-", "a b%20": "a b%20", "/a/b": "/a/b", "s3://b/k": "s3://b/k",
		"file:///a/b": "/a/b", "file://localhost/a": "/a", "file:///a%20b/%C3%A9?": "/a b/é?",
	} {
		if got, err := LocalPath(arg); err != nil || got != filepath.FromSlash(want) && got != want {
			t.Errorf("%q: %q, %v; want %q", arg, got, err, want)
		}
	}
	var usage *stream.UsageError
	for _, arg := range []string{"file://host/a", "file://a", "file://", "file://localhost", "file:///a%2"} {
		if got, err := LocalPath(arg); !errors.As(err, &usage) {
			t.Errorf("%q: %q, %v; want a usage error", arg, got, err)
		}
	}
}

// TestParent: a query with slashes is no part of the path.
func TestParent(t *testing.T) {
	for arg, want := range map[string]string{
		"s3://b/d/k.ufs" + query: "s3://b/d/" + query, "s3://b/d/e/" + query: "s3://b/d/" + query, "s3://b/k.ufs": "s3://b/",
		"https://h/a/k.ufs?sig=SE/CRET": "https://h/a/", "s3://KEY:SECRET@b/d/k": "s3://…",
	} {
		if got := ParentFolder(arg); got != want {
			t.Errorf("%s: %q, want %q", arg, got, want)
		}
	}
}

// TestUnder: links and parts .. on the way are followed, and the output itself need not exist.
func TestUnder(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, err := range []error{os.MkdirAll("a/b", 0o700), os.Symlink("a/b", "l"), os.Symlink("..", "a/up"), os.Symlink("b/x", "a/x")} {
		if err != nil {
			t.Fatalf("making the folders and links: %v", err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatalf("finding the working directory: %v", err)
	}
	const no = "no"
	for _, c := range []struct{ folder, arg, rel string }{
		{"a", "a/n", "n"},
		{"a/", "a/m/n/", "m/n"},
		{"a", "l/n", "b/n"},
		{"a", "l/../n", "n"}, // where l leads to, and not the folder it is in
		{"a", "a/up/n", no},
		{"a", "a/x", "x"}, // replaced, not followed
		{"l", "a/b/n", "n"},
		{"a", "file://" + here + "/a/n", "n"},
		{here, "n", "n"},
		{".", "a/./b/../m/n", "a/m/n"},
		{"a/b", "a/n", no},
		{"a", "ab/n", no},
		{"none", "none/n", no},
		{"s3://b/d", "s3://b/d/n" + query, "n"},
		{"s3://b/d/" + query, "s3://b/d" + query, ""},
		{"s3://b", "s3://b/d/n/", "d/n"},
		{"s3://b/d", "s3://b/dd", no},
		{"s3://b/d", "s3://c/d/n", no},
		{"s3://b/d", "gs://b/d/n", no},
		{"a", "s3://b/a/n", no},
		{"s3://b/a", "a/n", no},
	} {
		rel, ok := RelativePath(c.folder, c.arg)
		if !ok {
			rel = no
		}
		if rel != c.rel {
			t.Errorf("%s below %s: %q, want %q", c.arg, c.folder, rel, c.rel)
		}
	}
}

// TestSame: an object is not replaced by an output made from it, however its URL is written.
func TestSame(t *testing.T) {
	const k = "s3://b/k"
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{k, k, true},
		{k, k + "?region=r&use_path_style=true", true},
		{k + query, k + "?endpoint=http://127.0.0.1:7070", true},
		{k, k + query, true}, // AWS_ENDPOINT_URL may say the same
		{k + query, k + "?endpoint=http://127.0.0.1:7071", false},
		{k, "gs://b/k", false},
		{k, "s3://b/k2", false},
		{k, "s3://c/k", false},
		{k, "k", false},
		{"k", "k", false}, // of files the file system knows
		{"s3://b?.csv", "s3://b?.csv", false},
	} {
		if IsSameObject(c.a, c.b) != c.same || IsSameObject(c.b, c.a) != c.same {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.same)
		}
	}
}
