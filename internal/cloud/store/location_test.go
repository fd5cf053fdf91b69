package store

import (
	"errors"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// What String writes, Parse reads back, whatever is in the key and the parameters.
func TestLocationRoundTrip(t *testing.T) {
	pieces := []string{"a", "day=2026-01-01", "/", "//", " ", "%", "%20", "+", "ä", "日本", "?", "=", "&", "#", "@", ":", "?region=", "&endpoint=x",
		"?anonymous=true", "?token=", "?y=", "*", "[0-9]", "{a,b}", ".", "..", "\\", "\"", "\x01", "\xff"}
	queries := map[string][]string{
		"s3":     {"", "endpoint=http://127.0.0.1:7070&use_path_style=true&region=us-east-1", "profile=a b", "profile=a%26b%2B", "anonymous=true"},
		"gs":     {"", "endpoint=http://[::1]:99/folder", "anonymous=true"},
		"azblob": {"", "storage_account=a&domain=localhost:10000&protocol=http", "endpoint=https://h/devstoreaccount1"},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var key strings.Builder
		for range rng.IntN(7) {
			key.WriteString(pieces[rng.IntN(len(pieces))])
		}
		for scheme, all := range queries {
			arg := scheme + "://lake/"
			if q := all[rng.IntN(len(all))]; q != "" {
				arg += "?" + q
			}
			l := must.Get(Parse(arg))(t).WithKey(key.String())
			again, err := Parse(l.String())
			if err != nil || again.Scheme != scheme || again.Bucket != "lake" || again.Key != key.String() || again.String() != l.String() && len(l.query) > 0 {
				t.Fatalf("%q with key %q: %q gives %+v, %v", arg, key.String(), l.String(), again, err)
			}
			for name := range l.query {
				if again.query.Get(name) != l.query.Get(name) {
					t.Fatalf("%q: %s is %q", l.String(), name, again.query.Get(name))
				}
			}
		}
	}
}

func TestParse(t *testing.T) {
	for arg, want := range map[string][3]string{
		"s3://b":                                   {"b", "", ""},
		"s3://b?region=eu-west-1":                  {"b", "", "region=eu-west-1"},
		"s3://b/x?/y=?.parquet":                    {"b", "x?/y=?.parquet", ""},
		"s3://b/d?y=2026/x.parquet?region=r":       {"b", "d?y=2026/x.parquet", "region=r"},
		"gs://b/a+b%20c?anonymous=true":            {"b", "a+b%20c", "anonymous=true"},
		"s3://b/k?profile=a+b%2Fc":                 {"", "", ""}, // no slash in a profile
		"s3://b/k?endpoint=http%3A%2F%2Fh%3A1":     {"b", "k", "endpoint=http://h:1"},
		"azblob://$web/k?storage_account=acc":      {"$web", "k", "storage_account=acc"},
		"https://h:8443/a%20b/c?sig=x%2Fy&region=": {"h:8443", "a%20b/c", ""},
	} {
		l, err := Parse(arg)
		if want[0] == "" {
			if err == nil {
				t.Errorf("%q is read as %+v", arg, l)
			}
			continue
		}
		if err != nil || l.Bucket != want[0] || l.Key != want[1] || l.encodedParameters() != want[2] {
			t.Errorf("%q is read as %+v, error %v, want %q", arg, l, err, want)
		}
	}
	for _, arg := range []string{"https://h/p", "https://h/a?b=c&d", "http://h:80/%41?x", "https://h/?a?b"} {
		if l, err := Parse(arg); err != nil || l.String() != arg || strings.Contains(l.PublicName(), "?") {
			t.Errorf("%q is written back as %q, error %v, or its name shows the query", arg, l.String(), err)
		}
	}
}

// A URL that is refused may hold a secret anywhere: nothing of it is repeated but the names
// of parameters.
func TestParseTellsNoSecrets(t *testing.T) {
	const secret = "wJalrXUtnFEMI"
	for _, arg := range []string{
		"s3://AKIAKEY:" + secret + "@bucket/key", "s3://AKIAKEY:a/" + secret + "@bucket/key", "s3://" + secret + "@b",
		"s3://b/k?secret_key=" + secret, "s3://b/k?region=r&aws_secret_access_key=" + secret, "s3://b/k?" + "X-Amz-Signature=" + secret + "&region=r",
		"s3://b/k?regoin=" + secret, "s3://b/k?region=r&" + secret + "%zz", "s3://b/k?region=r&;" + secret, "s3://b/k?region=a/" + secret,
		"s3://b/k?endpoint=http://u:" + secret + "@host", "s3://b/k?endpoint=http://host/?sig=" + secret, "s3://b/k?endpoint=" + secret,
		"azblob://c/k?sig=" + secret, "azblob://c/k?localemu=" + secret, "azblob://c/k?storage_account=a&cdn=" + secret, "azblob://c/k?protocol=" + secret,
		"azblob://c/k?domain=a@" + secret, "gs://b/k?access_id=" + secret, "gs://b/k?anonymous=" + secret, "s3://b/k?anonymous=true&anonymous=" + secret,
		"https://u:" + secret + "@host/x", "https://host:" + secret + "/x", "https://h/x#" + secret, "ftp://" + secret, secret, "s3:///" + secret,
		"s3://b/k?region=r&!" + secret + "=1", "s3://b/k?region=r&" + strings.Repeat(secret, 4) + "=1",
	} {
		l, err := Parse(arg)
		var usage *stream.UsageError
		if !errors.As(err, &usage) || strings.Contains(err.Error(), secret) {
			t.Errorf("%q is read as %+v, error %v, want a usage error without the secret", arg, l, err)
		}
	}
	if _, err := Parse("s3://b/k?regoin=x"); err == nil || !strings.Contains(err.Error(), "regoin") || !strings.Contains(err.Error(), "did you mean region") {
		t.Errorf("a misspelt region: error %v, want the suggestion", err)
	}
}

func TestGlob(t *testing.T) {
	for key, want := range map[string]string{"a/b": "", "a/b*/c": "a/", "*": "", "a/day=?/x": "a/", "a/b/[x]": "a/b/", "a/{b,c}": "a/"} {
		prefix, is := Location{Scheme: "s3", Bucket: "b", Key: key}.GlobPrefix()
		if !is {
			want = key
		}
		if is != strings.ContainsAny(key, "*?[{") || prefix != want {
			t.Errorf("%q: prefix %q, pattern %t, want prefix %q", key, prefix, is, want)
		}
	}
}

// The path that is sent names the key, byte for byte.
func TestAddresses(t *testing.T) {
	s := &s3{endpoint: &url.URL{Scheme: "https", Host: "s3.eu-west-1.amazonaws.com"}}
	for bucket, want := range map[string]string{
		"lake":   "https://lake.s3.eu-west-1.amazonaws.com/a/b%20%2B%25%C3%A4%3D%3F%5B",
		"a.lake": "https://s3.eu-west-1.amazonaws.com/a.lake/a/b%20%2B%25%C3%A4%3D%3F%5B",
	} {
		if got := s.keyURL(Location{Scheme: "s3", Bucket: bucket}, "a/b +%ä=?[", nil).String(); got != want {
			t.Errorf("%s is %s", bucket, got)
		}
	}
	for arg, want := range map[string]string{
		"https://h/a b%20c%zz/ä?x=y z": "https://h/a%20b%20c%25zz/%C3%A4?x=y%20z",
		"https://h/a%2Fb?%2F":          "https://h/a%2Fb?%2F",
		"https://h":                    "https://h/",
	} {
		if got := (web{}).pageURL(must.Get(Parse(arg))(t)).String(); got != want {
			t.Errorf("%s is asked for as %s", arg, got)
		}
	}
}
