package screen

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
)

const secret = "PLANTED-SECRET-0123/+="

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", "a:b": "a:b", `C:\data`: `C:\data`, "C:/data//x": "C:/data//x", "50% of 7?": "50% of 7?", "a/b?c&d": "a/b?c&d", "12:30": "12:30", "x://": "x://",
		"https://h/a.parquet": "https://h/a.parquet", "s3://b/k/": "s3://b/k/", "see https://h/a, or http://HOST:PORT/x.": "see https://h/a, or http://HOST:PORT/x.",
		"https://h/a?sig=" + secret: "https://h/a",
		"--store 'endpoint=http://127.0.0.1:9000&region=eu-west-1&use_path_style=true'": "--store 'endpoint=http://127.0.0.1:9000&region=eu-west-1&use_path_style=true'",
		"endpoint=http://h&foo=" + secret + "&region=r":                                 "endpoint=http://h&foo=…&region=r", "endpoint=http://u:" + secret + "@h&region=r": "endpoint=http://…",
		"HTTPS://h/a?sig=" + secret + ": HTTP 403":                   "HTTPS://h/a: HTTP 403",
		`"https://h/a?sig=` + secret + `", and "b"`:                  `"https://h/a", and "b"`,
		"'https://h/a?sig=" + secret + "'":                           "'https://h/a'",
		"(https://h/a?" + secret + ").":                              "(https://h/a).",
		"is it https://h/a?":                                         "is it https://h/a?",
		"https://h/a#" + secret:                                      "https://h/a",
		"https://h?" + secret:                                        "https://h",
		"https://user:" + secret + "@h/a":                            "https://…", // its slash ends the possible host
		"https://user:pass@h:80/a?b":                                 "https://…@h:80/a",
		"https://TOKEN@h/a":                                          "https://…@h/a",
		"https://user:12/34@h/a":                                     "https://…",
		"ftp://u:PW@h/a":                                             "ftp://…@h/a",
		"https://[::1]:80/a?x":                                       "https://[::1]:80/a",
		"abfss://box@acc.dfs.core.windows.net/a?sp=r&sig=" + secret:  "abfss://box@acc.dfs.core.windows.net/a",
		"wasbs://box@acc.blob.core.windows.net/a":                    "wasbs://box@acc.blob.core.windows.net/a",
		"abfss://box:PW@acc.dfs.core.windows.net/a":                  "abfss://…@acc.dfs.core.windows.net/a",
		"abfss://box@acc.dfs.core.windows.net/a&sig=" + secret:       "abfss://box@acc.dfs.core.windows.net/a&sig=…",
		"s3a://b/k?x=" + secret:                                      "s3a://b/k",
		"s3://b/what?.csv":                                           "s3://b/what?.csv",
		"s3://b/k?endpoint=http://127.0.0.1:7070&region=r&profile=p": "s3://b/k?endpoint=http://127.0.0.1:7070&region=r&profile=p",
		"s3://b/k?region=r&X-Amz-Signature=" + secret:                "s3://b/k?region=r&X-Amz-Signature=…",
		"s3://b/k?mine=" + secret:                                    "s3://b/k?mine=…",
		"s3://b/k?region=r&" + secret:                                "s3://b/k?region=r&…", // its = makes a name of it
		"s3://KEY:PW@b/k":                                            "s3://…@b/k",
		"s3://KEY:P/W@b/k":                                           "s3://…",
		"gs://b/k?endpoint=http://u:PW@h&anonymous=true":             "gs://b/k?endpoint=…&anonymous=true",
		"gs://b/k?endpoint=http%3A%2F%2Fu%3APW%40h":                  "gs://b/k?endpoint=http://…",
		"azblob://c/k?storage_account=a&domain=d&protocol=https":     "azblob://c/k?storage_account=a&domain=d&protocol=https",
		`s3://b/k?region=r\u0026sig=` + secret:                       "s3://b/k?region=…",
		"file:///data/part-?.parquet":                                "file:///data/part-?.parquet",
		"file://u:PW@h/a":                                            "file://…@h/a",
		"delta://https://h/t?sig=" + secret:                          "delta://https://h/t",
		"delta:///data/t":                                            "delta:///data/t",
		"@https://h/list?sig=" + secret:                              "@https://h/list",
		"mine=https://h/sel.json?sig=" + secret:                      "mine=https://h/sel.json",
		"--stats=HTTPS://h/a?sig=" + secret:                          "--stats=HTTPS://h/a",
		`{"what":"https:\/\/h\/a?sig=` + secret + `","n":1}`:         `{"what":"https://h/a","n":1}`,
		`{"what":"https:\/\/h\/a","n":1}`:                            `{"what":"https:\/\/h\/a","n":1}`,
		"https%3A%2F%2Fh%2Fa%3Fsig%3D" + secret:                      "https://…",
		"HTTPS%253a%252f%252fh%252fa%253fsig%253d" + secret:          "HTTPS://…",
		"https%3A%2F%2Fh%2Fa":                                        "https%3A%2F%2Fh%2Fa",
		"a.parquet&sig=" + secret:                                    "a.parquet&sig=…",
		"a&sig=x: not there":                                         "a&sig=…: not there",
		"a%26sig%3D" + secret:                                        "a%26sig%3D…",
		"BlobEndpoint=x;AccountKey=" + secret + " is wrong":          "BlobEndpoint=x;AccountKey=… is wrong",
		"https://a/b?x https://c/d?y":                                "https://a/b https://c/d",
		"https://h/a?x=" + secret + `"` + secret + " then":           "https://h/a then",
		"jdbc:postgresql://h/db?password=" + secret:                  "jdbc:postgresql://h/db",
		"http://h/a;jsessionid=1;token=" + secret:                    "http://h/a;jsessionid=1;token=…",
		"größe://h/a?" + secret:                                      "größe://h/a",
		"https://h/a\n?b":                                            "https://h/a\n?b",
	} {
		if got := Redact(text); got != want {
			t.Errorf("%q\nis shown as %q,\nwant        %q", text, got, want)
		}
	}
}

// TestRedactTakesNoTime: a name of any length and nesting is shown in time that grows as it does.
func TestRedactTakesNoTime(t *testing.T) {
	for _, part := range []string{"a://", "a://b?c ", "%25", "a%3a%2f%2f", "s3://b/k?endpoint=", `a:\/\/?"`, "?sig=", "&token=x\\", "https"} {
		began := time.Now()
		long := Redact(strings.Repeat(part, 10_000))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%q, 10,000 times: %v for %d bytes", part, took, len(long))
		}
	}
}

// FuzzRedact: what is behind the ? of a URL, and its password, are not shown, whatever they are and however the URL is
// written; what is shown stays when it is shown again; and JSON remains JSON.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{"", "https", "https://h/a?b#c", "s3://b/k?region=r&x=y", "a%26sig%3Dx", `\"`, `","`, "x@y:z", "[::1]", "%3A%2F%2F", "://", "?a=b?c=d", "…", "\xff", "file:///?", "\\u0026token=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Redact(s)
		if twice := Redact(once); twice != once {
			t.Errorf("%q is shown as %q, and that as %q", s, once, twice)
		}
		const planted = "PLANTED7SECRET"
		word := strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || r == '"' {
				return -1
			}
			return r
		}, s)
		for _, text := range []string{
			"https://h/a?" + word + planted, "ABFSS://c@a.h/x?" + word + "&sig=" + planted, "see http://u:" + planted + "@h/" + word, "s3://b/k?mine=" + planted + word,
			"https://h/a?" + url.QueryEscape(s+planted), url.QueryEscape("https://h/a?" + s + planted), "gs://b/k?endpoint=" + url.QueryEscape("https://u:"+planted+"@h/"+s),
			s + " x&sig=" + planted, "delta://https://h/" + strings.ReplaceAll(word, "\\", "") + "?" + planted,
		} {
			if got := Redact(text); strings.Contains(got, planted) {
				t.Errorf("%q is shown as %q", text, got)
			}
		}
		if text, err := json.Marshal(map[string]string{"a": s, "b": "https://h/a?" + s, "c": `"https://h/?` + s + `","x"`}); err == nil && !json.Valid([]byte(Redact(string(text)))) {
			t.Errorf("%s is shown as %s", text, Redact(string(text)))
		}
	})
}
