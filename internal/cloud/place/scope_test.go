package place

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestScope: a file may name files in its own place and in places that the user allows, opened with the
// parameters of that place, and nothing else.
func TestScope(t *testing.T) {
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	for _, folder := range []string{"lake/a", "lake-evil", "other"} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, folder), 0o755))
	}
	must.Do(t, os.Symlink(filepath.Join(dir, "lake"), filepath.Join(dir, "link")))
	must.Do(t, os.Symlink(filepath.Join(dir, "other"), filepath.Join(dir, "lake", "up")))
	t.Chdir(filepath.Join(dir, "lake"))
	const refused = ""
	for _, c := range []struct {
		own, allowed []string
		names        map[string]string // name to the path or URL that opens it, empty if refused
	}{
		{[]string{dir + "/lake"}, nil, map[string]string{
			dir + "/lake/a/x": dir + "/lake/a/x", dir + "/lake": dir + "/lake", "a/x": "a/x", "../lake/x": dir + "/lake/x", "up/../x": dir + "/lake/x", "file://" + dir + "/lake/up/%2e%2e/x": dir + "/lake/x", "a..b": "a..b", dir + "/link/a/x": dir + "/link/a/x",
			"file://" + dir + "/lake/x": "file://" + dir + "/lake/x", dir + "/lake/*/{a,b}.csv": dir + "/lake/*/{a,b}.csv",
			dir + "/lake-evil/x": refused, dir + "/lake/../other/x": refused, "../other/x": refused, "/etc/passwd": refused, "file:///etc/passwd": refused,
			dir + "/link/../other/x": refused, "a/../../other/x": refused, dir + "/lake/*/../../other/x": refused, "file://evil/share/x": refused,
			"s3://b/x": refused, "gs://b/x": refused, "azblob://b/x": refused, "http://127.0.0.1/x": refused, "http://169.254.169.254/latest/meta-data": refused,
		}},
		{[]string{dir + "/lake"}, []string{dir + "/other", "../lake-evil/x", "s3://b/lake/?region=eu-west-1"}, map[string]string{
			dir + "/other/x": dir + "/other/x", dir + "/lake-evil/x": dir + "/lake-evil/x", dir + "/lake-evil/y": refused,
			"s3://b/lake/x": "s3://b/lake/x?region=eu-west-1", "s3://b/lake": "s3://b/lake?region=eu-west-1", "s3://b/lake/x?region=eu-west-1": "s3://b/lake/x?region=eu-west-1",
			"s3://b/lake-evil/x": refused, "s3://b/lake/../x": refused, "s3://b/lake/%2e%2e/x": refused, "s3://b/x": refused, "s3://B/lake/x": refused, "gs://b/lake/x": refused,
			"s3://b/lake/x?region=eu-west-2": refused, "s3://b/lake/x?endpoint=https://evil": refused, "s3://b/lake/x?profile=prod": refused,
			"s3://b/lake/x?anonymous=true": refused, "s3://b/lake/x?anonymous=false": "s3://b/lake/x?region=eu-west-1",
		}},
		{nil, []string{dir + "/oth*/*.csv", "s3://b/lake/day=*/?region=eu-west-1", "delta://gs://b/table"}, map[string]string{ // as inputs are
			dir + "/other/x.csv": dir + "/other/x.csv", dir + "/lake-evil/x.csv": dir + "/lake-evil/x.csv", "/etc/x.csv": refused, "gs://b/table/x": "gs://b/table/x", "gs://b/x": refused,
			"s3://b/lake/day=1/x": "s3://b/lake/day=1/x?region=eu-west-1", "s3://b/other/x": refused,
		}},
		{[]string{"gs://b/logs/list.txt?endpoint=https://mine"}, nil, map[string]string{
			"gs://b/x": "gs://b/x?endpoint=https://mine", "gs://b/x?endpoint=https://mine": "gs://b/x?endpoint=https://mine", "gs://b/x?endpoint=https://evil": refused,
			"gs://c/x": refused, "s3://b/x": refused, dir + "/lake/x": refused, "https://mine/b/x": refused,
		}},
		{[]string{"https://host:8443/a/list.txt?sig=1"}, nil, map[string]string{
			"https://host:8443/b/x?sig=2": "https://host:8443/b/x?sig=2", "https://HOST:8443/x": "https://host:8443/x", "https://host/x": refused, "http://host:8443/x": refused,
			"https://host:8443.evil/x": refused, "https://other/x": refused, "http://localhost/x": refused, "http://[::1]/x": refused,
		}},
	} {
		s := must.Get(NewScope("the list", c.own, c.allowed))(t)
		for name, want := range c.names {
			got, err := s.Resolve(name)
			var data *stream.DataError
			switch {
			case want != refused && (got != want || err != nil):
				t.Errorf("own %v, allowed %v: %s is %q (%v), want %q", c.own, c.allowed, name, got, err, want)
			case want == refused && (got != "" || !errors.As(err, &data) || data.Path != "the list"):
				t.Errorf("own %v, allowed %v: %s is %q (%v), want a refusal that names the list", c.own, c.allowed, name, got, err)
			}
		}
	}
}

// TestScopeAllows: the advice in a refusal suffices, except for wrong parameters.
func TestScopeAllows(t *testing.T) {
	for _, name := range []string{"/etc/data/x.csv", "/x.csv", "file:///etc/a%20b/x", "s3://b/k/x", "https://host/x?sig=1", "azblob://c/k?storage_account=a"} {
		s := must.Get(NewScope("list", nil, nil))(t)
		_, err := s.Resolve(name)
		var data *stream.DataError
		if !errors.As(err, &data) {
			t.Errorf("%s: %v, want a refusal", name, err)
			continue
		}
		_, advice, _ := strings.Cut(data.Remedy.Spell(nil), "allow ")
		allowed := strings.Trim(advice, "'")
		if got, err := must.Get(NewScope("list", nil, []string{allowed}))(t).Resolve(name); err != nil || got == "" {
			t.Errorf("%s with allow %s: %q, %v", name, allowed, got, err)
		}
		if strings.Contains(err.Error()+advice, "sig=1") {
			t.Errorf("%s: the query is told: %v", name, err)
		}
	}
	for _, bad := range []string{"", "s3://", "ftp://x/y", "s3://b/?endpoint=x", "https://", "gs://b/?token=1"} {
		if _, err := NewScope("list", nil, []string{bad}); err == nil || !strings.Contains(err.Error(), "{allow}") && !strings.Contains(err.Error(), "allow") {
			t.Errorf("allow %q: %v, want a usage error that names the flag", bad, err)
		}
	}
}

// TestScopeRecorded: roots recorded in a plan hold for local files and buckets, and never choose a server,
// credentials or a web server; the refusal repeats the maker's choice.
func TestScopeRecorded(t *testing.T) {
	roots := CommonRoots(slices.Values([]string{"/lake/a/x", "/lake/b/x", "s3://b/x?region=eu-west-1", "s3://b/y?region=eu-west-1", "gs://c/x?endpoint=https://e", "https://h/x?sig=1"}))
	if want := []string{"s3://b/?region=eu-west-1", "gs://c/?endpoint=https://e", "https://h/", "/lake"}; !slices.Equal(roots, want) {
		t.Fatalf("roots %q, want %q", roots, want)
	}
	s := must.Get(NewScope("plan", nil, nil))(t)
	if roots := CommonRoots(slices.Values([]string{"/a/b/x", "/c/d/x", "/a/e/x", "/x"})); !slices.Equal(roots, []string{"/a", "/c/d", "/x"}) {
		t.Errorf("roots of several top folders are %q", roots)
	}
	s.AddRecorded("https://h/job.plan.json", []string{"/lake", "s3://b/"})
	if got, err := s.Resolve("/lake/x"); err == nil {
		t.Errorf("a plan on a web server opens %q", got)
	}
	s.AddRecorded("job.plan.json", append(roots, "/", "relative", "azblob://d/?storage_account=evil", "s3://e/?profile=prod", "http://127.0.0.1/", "s3://f/?anonymous=true"))
	for name, want := range map[string]string{
		"/lake/c/x": "/lake/c/x", "s3://b/z": "s3://b/z?region=eu-west-1",
		"/other/x": "", "gs://c/x": "", "https://h/x": "", "azblob://d/x": "", "s3://e/x": "", "http://127.0.0.1/x": "", "s3://f/x": "",
	} {
		if got, err := s.Resolve(name); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	_, err := s.Resolve("gs://c/x")
	var data *stream.DataError
	if !errors.As(err, &data) || !strings.Contains(data.Remedy.Spell(nil), "'gs://c/?endpoint=https://e'") {
		t.Errorf("%v does not repeat what the maker chose", err)
	}
}

// TestBeside: relative lines of a list in a store stay next to it, with any text in them.
func TestBeside(t *testing.T) {
	const list = "s3://b/jobs/list.txt?endpoint=http://e"
	for line, want := range map[string]string{
		"x.csv": "s3://b/jobs/x.csv?endpoint=http://e", "../lake/": "s3://b/lake/?endpoint=http://e", "../../../x": "s3://b/x?endpoint=http://e", "*.csv": "s3://b/jobs/*.csv?endpoint=http://e",
		"x?endpoint=https:y": "s3://b/jobs/x?endpoint=https:y?endpoint=http://e", "/x": "/x", "gs://c/x": "gs://c/x", "file:///x": "file:///x",
	} {
		if got := ResolveLine(list, line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	if got := ResolveLine("https://h/a/list.txt?sig=1", "b/x.csv?sig=2"); got != "https://h/a/b/x.csv?sig=2" {
		t.Errorf("on a server: %s", got)
	}
	if got := ResolveLine("a/list.txt", "x.csv"); got != "x.csv" {
		t.Errorf("of a local list: %s", got)
	}
}

// FuzzScope: for any name in a file, the opened place is below one of the allowed places, and has its
// parameters.
func FuzzScope(f *testing.F) {
	for _, name := range []string{
		"s3://b/lake/x", "s3://b/lake/x?endpoint=https://evil", "s3://b/lake/%2e%2e/x", "gs://b/p?endpoint=https://evil", "azblob://c/x?storage_account=e", "https://h/x?sig=1", "http://[::1]/",
		"/srv/lake/x", "/srv/lake/../x", "file:///srv/lake/%2e%2e/x", "file://h/srv", "/srv/lake/*/../../x", "../x", "delta://x", "s3://b/lake/x?anonymous=false", "s3://b/lake/a?region=x?anonymous=false", "\x00",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s, err := NewScope("list", []string{"/srv/lake"}, []string{"s3://b/lake/?endpoint=http://mine&region=r", "https://h/data"})
		must.Do(t, err)
		got, err := s.Resolve(name)
		if err != nil {
			return
		}
		if !IsURL(got) {
			full := must.Get(AbsolutePath(got))(t)
			if full != "/srv/lake" && !strings.HasPrefix(full, "/srv/lake/") {
				t.Errorf("%q opens %s", name, full)
			}
			return
		}
		bare, query, _ := strings.Cut(got, "?")
		inStore := bare == "s3://b/lake" || strings.HasPrefix(bare, "s3://b/lake/")
		if inStore && !strings.HasSuffix(got, "?endpoint=http://mine&region=r") {
			t.Errorf("%q opens %s, with other parameters", name, got)
		}
		if !inStore && bare != "https://h/data" && !strings.HasPrefix(bare, "https://h/data/") {
			t.Errorf("%q opens %s (%s)", name, got, query)
		}
		if slices.Contains(strings.Split(bare, "/"), "..") {
			t.Errorf("%q opens %s, which leaves its folder", name, got)
		}
	})
}
