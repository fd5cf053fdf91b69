package place

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
)

// TestResolveURI: URIs of Hadoop's file systems are mapped to the places that they mean, decoded once, and the
// scope checks these places: one outside is refused with the flag, spelled as the user may allow it.
func TestResolveURI(t *testing.T) {
	t.Setenv("AZURE_STORAGE_ACCOUNT", "mine")
	for _, c := range []struct{ own, uri, want string }{
		{"/lake/t", "file:///lake/t/k=x%253Ay/c%20d.parquet", "/lake/t/k=x%3Ay/c d.parquet"},
		{"/lake/t", "file:/lake/t/a%2Bb.parquet", "/lake/t/a+b.parquet"},
		{"/lake/t", "/lake/t/100%25.parquet", "/lake/t/100%.parquet"},
		{"/lake/t", "file://localhost/lake/t/a.parquet", "/lake/t/a.parquet"},
		{"/lake/t", "file:///lake/t/%2E%2E/u/a.parquet", "allow /lake/u"},
		{"/lake/t", "file:///lake/u/a.parquet", "allow /lake/u"},
		{"s3://b/t", "s3a://b/t/k=x%253Ay/c%20d.parquet", "s3://b/t/k=x%3Ay/c d.parquet"},
		{"s3://b/t?region=eu-1", "s3n://b/other/a.parquet", "s3://b/other/a.parquet?region=eu-1"},
		{"s3://b/t", "S3://b/a%3Fendpoint=x", "s3://b/a?endpoint=x?anonymous=false"},
		{"s3://b/t", "s3a://c/a.parquet", "allow s3://c/"},
		{"s3://b/t", "s3a://b/a.parquet?endpoint=http://evil.example", "only arguments"},
		{"gs://b/t", "gs://b/%25.parquet", "gs://b/%.parquet"},
		{"azblob://c/t", "abfss://c@mine.dfs.core.windows.net/t/k=x%253Ay.parquet", "azblob://c/t/k=x%3Ay.parquet"},
		{"azblob://c/t", "wasbs://c@MINE.blob.core.windows.net/a.parquet", "azblob://c/a.parquet"},
		{"azblob://c/t", "abfs://c/a.parquet", "azblob://c/a.parquet"},
		{"azblob://c/t", "az://c/a.parquet", "azblob://c/a.parquet"},
		{"azblob://c/t?storage_account=other", "abfss://c@other.dfs.core.windows.net/a.parquet", "azblob://c/a.parquet?storage_account=other"},
		{"azblob://c/t", "abfss://c@other.dfs.core.windows.net/a.parquet", "storage_account=other"},
		{"azblob://c/t?storage_account=other", "abfss://c@mine.dfs.core.windows.net/a.parquet", "storage_account=mine"},
		{"azblob://c/t", "abfss://c@mine.dfs.evil.example/a.parquet", "only arguments"},
		{"azblob://c/t", "wasb://d@mine.blob.core.windows.net/a.parquet", "allow 'azblob://d/?storage_account=mine'"},
		{"s3://b/t", "hdfs://n/a.parquet", "a store of an unknown kind"},
		{"s3://b/t", "dbfs:/mnt/a.parquet", "a store of an unknown kind"},
		{"s3://b/t", "s3a://b/%zz", "invalid URL escape"},
	} {
		s, err := NewScope("the table", []string{c.own}, nil)
		if err != nil {
			t.Fatalf("got error %v, want none", err)
		}
		got, err := s.ResolveURI(c.uri)
		if err != nil {
			got = err.Error()
		}
		if refused := !strings.HasPrefix(c.want, "/") && !IsURL(c.want); got != filepath.FromSlash(c.want) && (!refused || err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s of %s: got %s, want %s", c.uri, c.own, got, c.want)
		}
	}
}

// FuzzResolveURI: for any URI in a log, the opened place is in the table's own bucket or folder, with its
// parameters.
func FuzzResolveURI(f *testing.F) {
	for _, uri := range []string{"file:///lake/t/%2e%2e/x", "s3a://b/%3Fendpoint=http://e/x", "abfss://c@a.dfs.core.windows.net/x", "/lake/t/a%00", "s3://b%2F/x", "wasb://b@/x?account=1"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		t.Setenv("AZURE_STORAGE_ACCOUNT", "mine")
		for _, own := range []string{"/lake/t", "s3://b/t?region=eu-1", "azblob://c/t"} {
			s, err := NewScope("the table", []string{own}, nil)
			if err != nil {
				t.Fatalf("got error %v, want none", err)
			}
			got, err := s.ResolveURI(uri)
			if err != nil {
				continue
			}
			if !IsURL(own) {
				if rel, err := filepath.Rel(own, got); err != nil || strings.HasPrefix(filepath.ToSlash(rel)+"/", "../") {
					t.Errorf("%q of %s: got %q, which is not below it", uri, own, got)
				}
				continue
			}
			root, err1 := store.Parse(own)
			at, err2 := store.Parse(got)
			if err1 != nil || err2 != nil || at.WithKey("").String() != root.WithKey("").String() {
				t.Errorf("%q of %s: got %q, want a place in its bucket with its parameters", uri, own, got)
			}
		}
	})
}
