package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// webServer serves content as each kind of web server does.
func webServer(t *testing.T, content *[]byte, tag *string, change func(w http.ResponseWriter, r *http.Request) (done bool)) string {
	storetest.IsolateEnvironment(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if *tag != "" {
			w.Header().Set("ETag", *tag)
		}
		if change == nil || !change(w, r) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(*content))
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/folder/file.parquet?sig=" + secretSig
}

func TestWebServers(t *testing.T) {
	content := noise(100_000, 1)
	refuseHead := func(status int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodHead {
				w.WriteHeader(status)
			}
			return r.Method == http.MethodHead
		}
	}
	for name, kind := range map[string]struct {
		tag    string
		change func(http.ResponseWriter, *http.Request) bool
	}{
		"strong tag": {`"v1"`, nil}, "weak tag": {`W/"v1"`, nil}, "no tag": {"", nil},
		"no HEAD": {`"v1"`, refuseHead(405)}, "forbidden HEAD": {`"v1"`, refuseHead(403)}, "unknown HEAD": {"", refuseHead(501)},
		"a file's time": {"", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			return false
		}},
	} {
		t.Run(name, func(t *testing.T) {
			served := content
			c := client(nil)
			l := at(t, webServer(t, &served, &kind.tag, kind.change))
			o := must.Get(c.Stat(t.Context(), l))(t)
			if o.Size != int64(len(content)) || !bytes.Equal(download(t, c, o), content) {
				t.Errorf("%d bytes, or others", o.Size)
			}
			for _, span := range [][2]int{{0, 1}, {5, 5}, {99_990, 100_000}, {1, 50_000}} {
				b := make([]byte, span[1]-span[0])
				if err := c.Read(t.Context(), o, b, int64(span[0])); err != nil || !bytes.Equal(b, content[span[0]:span[1]]) {
					t.Errorf("reading %v: error %v, or other bytes", span, err)
				}
			}
			// Replaced: by another size always, by the same where there is a tag.
			served = noise(100_001, 2)
			if err := c.Read(t.Context(), o, make([]byte, 10), 5); !errors.Is(err, ErrChanged) {
				t.Errorf("replaced: %v", err)
			}
			if served, kind.tag = noise(100_000, 2), strings.Replace(kind.tag, "v1", "v2", 1); kind.tag != "" {
				if err := c.Read(t.Context(), o, make([]byte, 10), 5); !errors.Is(err, ErrChanged) {
					t.Errorf("replaced by the same size: %v", err)
				}
			}
			served = nil
			if empty, err := c.Stat(t.Context(), l); err != nil || empty.Size != 0 || c.Download(t.Context(), empty, io.Discard) != nil {
				t.Errorf("an empty file: %+v, %v", empty, err)
			}
		})
	}
}

// A server that sends whole files only is read from the beginning, and refused in words
// where that would be read again and again.
func TestWebServerWithoutRanges(t *testing.T) {
	content, tag := noise(3<<20, 1), ""
	var cut atomic.Bool
	whole := func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		if r.Method == http.MethodGet {
			body := content
			if cut.Swap(false) {
				body = content[:2<<20]
			}
			_, _ = w.Write(body)
		}
		return true
	}
	var meter stream.Meter
	c := client(&meter)
	l := at(t, webServer(t, &content, &tag, whole))
	o := must.Get(c.Stat(t.Context(), l))(t)
	cut.Store(true)
	if !bytes.Equal(download(t, c, o), content) || meter.Retries.Load() != 1 {
		t.Errorf("other bytes, or %d retries", meter.Retries.Load())
	}
	b := make([]byte, 1000)
	if err := c.Read(t.Context(), o, b, 1<<20); err != nil || !bytes.Equal(b, content[1<<20:][:1000]) {
		t.Errorf("reading within the first MiB from a server without ranges: error %v, or other bytes", err)
	}
	err := c.Read(t.Context(), o, b, 2<<20)
	if err == nil || !strings.Contains(err.Error(), "whole files only") || !strings.Contains(err.Error(), "download the file") {
		t.Errorf("reading far into a file of a server without ranges: error %v, want the remedy to download it", err)
	}
}

// A server that sends no size, lies about its range, or is none of a file.
func TestOddWebServers(t *testing.T) {
	content, tag := noise(1000, 1), ""
	for want, change := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"the file's length": func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Transfer-Encoding", "chunked")
			w.(http.Flusher).Flush()
			return true
		},
		"another part": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet {
				w.Header().Set("Content-Range", "bytes 0-9/1000")
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(content[:10])
			}
			return r.Method == http.MethodGet
		},
		"redirects for ever": func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
			return true
		},
		"no such object":   func(w http.ResponseWriter, r *http.Request) bool { http.NotFound(w, r); return true },
		"cannot be listed": func(w http.ResponseWriter, r *http.Request) bool { http.NotFound(w, r); return true },
	} {
		c := client(nil)
		l := at(t, webServer(t, &content, &tag, change))
		if want == "cannot be listed" {
			l = l.WithKey("part-*.parquet")
		}
		o, err := c.Stat(t.Context(), l)
		if err == nil {
			err = c.Read(t.Context(), o, make([]byte, 100), 100)
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sig=") {
			t.Errorf("error %v, want one with %q and no signature", err, want)
		}
	}
}

// Another server that the first one sends us to does not hear of the first address.
func TestRedirectTellsNothing(t *testing.T) {
	content, tag := noise(1000, 1), `"v"`
	heard := storetest.NewRecorder(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	other := httptest.NewTLSServer(heard)
	defer other.Close()
	place := "https://user:password@" + strings.TrimPrefix(other.URL, "https://") + "/k"
	first := webServer(t, &content, &tag, func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, place, http.StatusFound)
		return true
	})
	c := client(nil)
	c.stores, c.web = newHTTPClients(c.opt.Meter, net.Dialer{}, other.Client().Transport.(*http.Transport).TLSClientConfig)
	o := must.Get(c.Stat(t.Context(), at(t, first+"&more=SECRET")))(t)
	if !bytes.Equal(download(t, c, o), content) {
		t.Error("other bytes")
	}
	heard.WantNoCredentials(t, secretSig, "SECRET", "password")
	if all := strings.Join(heard.RequestTexts(), "\n"); strings.Contains(all, "Referer") || !strings.Contains(all, "GET /k") {
		t.Errorf("the other server hears %s", all)
	}
	// A store's request is signed for one address: it is not sent to another.
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	endpoint, _, _ := strings.Cut(first, "/folder")
	if _, err := c.Stat(t.Context(), at(t, "s3://lake/key?endpoint="+endpoint)); err == nil {
		t.Error("a redirect of a store was followed")
	}
}

func TestWebIsReadOnly(t *testing.T) {
	c := client(nil)
	l := at(t, "https://host.invalid/x?sig="+secretSig)
	for _, err := range c.List(t.Context(), l) {
		checkUsage(t, err)
	}
	checkUsage(t, failure(c.Upload(t.Context(), l, bytes.NewReader(nil), 0)))
	checkUsage(t, c.CanUpload(t.Context(), l))
	checkUsage(t, c.Delete(t.Context(), l))
}

func checkUsage(t *testing.T, err error) {
	t.Helper()
	var usage *stream.UsageError
	if !errors.As(err, &usage) || strings.Contains(err.Error(), secretSig) {
		t.Errorf("error %T %v, want a usage error without the secret", err, err)
	}
}
