package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// noise is bytes that no two places have in common.
func noise(n int64, seed uint64) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

func at(t testing.TB, url string) Location {
	t.Helper()
	return must.Get(Parse(url))(t)
}

// client is a Client that gives up soon. Its parts are the smallest that any store takes:
// S3's, 5 MiB.
func client(meter *stream.Meter) *Client {
	c := New(Options{Meter: meter})
	c.part = 5 << 20
	c.patience = patience{first: 5 * time.Millisecond, longest: 100 * time.Millisecond, tries: 10, bound: 3 * time.Second, stall: 20 * time.Second}
	return c
}

// put uploads b, and checks the returned version against the stored object.
func put(t testing.TB, c *Client, url string, b []byte) Object {
	t.Helper()
	told := must.Get(c.Upload(t.Context(), at(t, url), bytes.NewReader(b), int64(len(b))))(t)
	o := must.Get(c.Stat(t.Context(), at(t, url)))(t)
	if told.Version != o.Version || told.Size != o.Size || told.PublicName() != o.PublicName() || o.Version == "" {
		t.Errorf("an upload of %d bytes tells of %+v, there is %+v", len(b), told, o)
	}
	return o
}

func failure(_ Object, err error) error { return err }

func download(t testing.TB, c *Client, o Object) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, c.Download(t.Context(), o, &b))
	return b.Bytes()
}

func keys(t testing.TB, c *Client, url string) (all []string) {
	t.Helper()
	for o, err := range c.List(t.Context(), at(t, url)) {
		must.Do(t, err)
		all = append(all, o.Key)
	}
	return all
}

// clientOf is a client whose parts are the smallest that the kind of store takes.
func clientOf(s *storetest.Server, meter *stream.Meter) *Client {
	c := client(meter)
	if s.Scheme != "s3" {
		c.part = 256 << 10
	}
	return c
}

// An object that was put is there, under its key, at any size and over its former content.
func TestRoundTrip(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		c := clientOf(s, nil)
		must.Do(t, c.CanUpload(t.Context(), at(t, s.URL("a/new"))))
		if got := keys(t, c, s.URL("")); len(got) > 0 {
			t.Fatalf("CanUpload left %q", got)
		}
		part := c.part
		for i, n := range []int64{0, 1, 1000, part - 1, part, part + 1, 3*part + 7, 2 * part} {
			want := noise(n, uint64(i))
			o := put(t, c, s.URL("a/object"), want)
			if o.Size != n || o.Version == "" {
				t.Fatalf("%d bytes: %d of version %q", n, o.Size, o.Version)
			}
			if !bytes.Equal(download(t, c, o), want) {
				t.Fatalf("%d bytes came back otherwise", n)
			}
			for listed, err := range c.List(t.Context(), at(t, s.URL("a/"))) {
				must.Do(t, err)
				if listed.Size != n || listed.Version != o.Version || listed.String() != o.String() {
					t.Fatalf("listed as %+v, is %+v", listed, o)
				}
			}
		}
		l := at(t, s.URL("a/object"))
		must.Do(t, c.Delete(t.Context(), l))
		must.Do(t, c.Delete(t.Context(), l))
		if _, err := c.Stat(t.Context(), l); !errors.Is(err, ErrNotExist) {
			t.Fatalf("after Delete: %v", err)
		}
	})
}

// Keys may hold any characters; listings give them back as they are, in byte order.
func TestOddKeys(t *testing.T) {
	odd := []string{
		"day=2026-01-01/part 0+1.parquet", "100%/a%20b", "ä/日本.csv", "a?b=c&d", "q?region=x", "plus+and space", "tilde~!$'()*,;:@", "[1]{2}",
		"quote\"<&>", "hash#tag", "back`^|", "UPPER", "upper", "z//z",
	}
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		c := client(nil)
		var want []string
		for i, key := range odd {
			if s.Scheme == "s3" && strings.Contains(key, "//") {
				continue // versitygw stores keys as files, whose paths have no empty parts
			}
			want = append(want, key)
			l := at(t, s.URL("")).WithKey(key)
			content := noise(int64(i+1), uint64(i))
			must.Do(t, failure(c.Upload(t.Context(), l, bytes.NewReader(content), int64(len(content)))))
			o := must.Get(c.Stat(t.Context(), at(t, l.String())))(t)
			if o.Key != key || !bytes.Equal(download(t, c, o), content) {
				t.Errorf("%q: came back as %q", key, o.Key)
			}
		}
		slices.Sort(want)
		if got := keys(t, c, s.URL("")); !slices.Equal(got, want) {
			t.Errorf("listed\n%q, want\n%q", got, want)
		}
		for _, key := range want {
			if got := keys(t, c, at(t, s.URL("")).WithKey(key).String()); !slices.Contains(got, key) {
				t.Errorf("the prefix %q gives %q", key, got)
			}
			must.Do(t, c.Delete(t.Context(), at(t, s.URL("")).WithKey(key)))
		}
		if got := keys(t, c, s.URL("")); len(got) > 0 {
			t.Errorf("%q is left", got)
		}
	})
}

// A listing goes over pages.
func TestListPages(t *testing.T) {
	const n, page = 130, 50
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		p := storetest.NewProxy(t, s.Endpoint)
		c := client(nil)
		c.keys = page
		limit := make(chan struct{}, 8)
		failed := make(chan error, n)
		for i := range n {
			limit <- struct{}{}
			go func() {
				failed <- failure(c.Upload(t.Context(), at(t, s.URL(fmt.Sprintf("many/%05d", i))), bytes.NewReader(nil), 0))
				<-limit
			}()
		}
		for range n {
			must.Do(t, <-failed)
		}
		put(t, c, s.URL("other"), nil)
		got := keys(t, c, s.URLAt(p.URL, "many/"))
		if len(got) != n || !slices.IsSorted(got) || got[0] != "many/00000" || got[n-1] != "many/00129" {
			t.Fatalf("%d keys", len(got))
		}
		if requests, _ := p.RequestCounts(); requests[http.MethodGet] != (n+page-1)/page {
			t.Errorf("%d requests for pages of %d keys", requests[http.MethodGet], page)
		}
		for o, err := range c.List(t.Context(), at(t, s.URL("many/"))) {
			must.Do(t, err)
			if o.Key != "many/00000" {
				t.Fatalf("the first key is %s, want many/00000", o.Key)
			}
			break // a listing may be left
		}
	})
}

// Every range equals that slice of the object.
func TestRanges(t *testing.T) {
	const n = 200_000
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		c := client(nil)
		want := noise(n, 1)
		o := put(t, c, s.URL("object"), want)
		edges := []int64{0, 1, 2, 65_535, 65_536, 65_537, n - 2, n - 1, n}
		for _, from := range edges {
			for _, to := range edges {
				if from > to {
					continue
				}
				b := make([]byte, to-from)
				must.Do(t, c.Read(t.Context(), o, b, from))
				if !bytes.Equal(b, want[from:to]) {
					t.Fatalf("[%d, %d) differs", from, to)
				}
			}
		}
		for _, at := range []int64{-1, n, n + 1} {
			if err := c.Read(t.Context(), o, make([]byte, 1), at); err == nil {
				t.Errorf("a byte at %d of %d was read", at, n)
			}
		}
	})
}

// An object that was replaced is not read, be its size the same or not.
func TestReplaced(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		for _, size := range []int64{1000, 999, 10, 2000, 0} {
			c := client(nil)
			o := put(t, c, s.URL("object"), noise(1000, 1))
			put(t, c, s.URL("object"), noise(size, 2))
			err := c.Read(t.Context(), o, make([]byte, 100), 900)
			var bad *stream.DataError
			if !errors.Is(err, ErrChanged) || !errors.As(err, &bad) || bad.Path != o.PublicName() {
				t.Errorf("replaced by %d bytes: %v", size, err)
			}
			if err := c.Download(t.Context(), o, io.Discard); !errors.Is(err, ErrChanged) {
				t.Errorf("replaced by %d bytes: %v", size, err)
			}
		}
		c := client(nil)
		o := put(t, c, s.URL("gone"), noise(10, 1))
		must.Do(t, c.Delete(t.Context(), o.Location))
		if err := c.Read(t.Context(), o, make([]byte, 5), 0); !errors.Is(err, ErrNotExist) {
			t.Errorf("deleted: %v", err)
		}
	})
}

// What is missing is told apart: an object, or the whole bucket.
func TestMissing(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		c := client(nil)
		_, err := c.Stat(t.Context(), at(t, s.URL("none")))
		var bad *stream.DataError
		if !errors.Is(err, ErrNotExist) || !errors.As(err, &bad) {
			t.Errorf("a missing object: %v", err)
		}
		s.Bucket = "nolake"
		l := at(t, s.URL("none"))
		_, err = c.Stat(t.Context(), l)
		listed := func() (err error) {
			for _, err = range c.List(t.Context(), l) {
			}
			return err
		}
		for what, err := range map[string]error{
			"Stat": err, "List": listed(), "CanUpload": c.CanUpload(t.Context(), l),
			"Upload": failure(c.Upload(t.Context(), l, bytes.NewReader(nil), 0)), "Upload of parts": failure(c.Upload(t.Context(), l, bytes.NewReader(make([]byte, 11<<20)), 11<<20)),
		} {
			var cannot *stream.OutputError
			if err == nil || errors.Is(err, ErrNotExist) || !strings.Contains(err.Error(), "there is no") || !strings.Contains(err.Error(), " nolake: ") ||
				strings.HasPrefix(what, "Upload") != errors.As(err, &cannot) && what != "CanUpload" {
				t.Errorf("%s in a missing bucket: %v", what, err)
			}
		}
	})
}

// A run that is interrupted hears so at once, and not of the store.
func TestCancelled(t *testing.T) {
	s := storetest.S3(t)
	p := storetest.NewProxy(t, s.Endpoint)
	c := client(nil)
	o := put(t, c, s.URLAt(p.URL, "object"), noise(10_000, 1))
	p.Latency.Store(int64(10 * time.Second))
	var ctx context.Context
	var cancel context.CancelFunc
	for what, do := range map[string]func() error{
		"Stat":   func() error { _, err := c.Stat(ctx, o.Location); return err },
		"Read":   func() error { return c.Read(ctx, o, make([]byte, 10), 0) },
		"Upload": func() error { return failure(c.Upload(ctx, o.Location, bytes.NewReader(nil), 0)) },
		"List": func() (err error) {
			for _, err = range c.List(ctx, o.Location) {
			}
			return err
		},
	} {
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		begin := time.Now()
		if err := do(); err != context.Canceled || time.Since(begin) > 5*time.Second { //nolint:errorlint // nothing may be around it
			t.Errorf("%s: %v after %v", what, err, time.Since(begin))
		}
	}
}

// A bucket is no object: it is neither read, nor made, nor removed.
func TestBucketIsNoObject(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		c := client(nil)
		l := at(t, s.URL(""))
		if _, err := c.Stat(t.Context(), l); !errors.Is(err, ErrNotExist) {
			t.Errorf("Stat of a bucket: error %v, want ErrNotExist", err)
		}
		checkUsage(t, c.Delete(t.Context(), l))
		checkUsage(t, failure(c.Upload(t.Context(), l, bytes.NewReader(nil), 0)))
		checkUsage(t, c.CanUpload(t.Context(), l))
		put(t, c, s.URL("object"), nil)
	})
}

// What is put there by others, not by this package, is read like anything else.
func TestPlanted(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		c := client(nil)
		want := noise(1000, 1)
		s.PutObject("folder/planted", want)
		if s.Dir != "" { // a planted file of S3 has no tag, but its time, in seconds
			earlier := time.Now().Add(-time.Minute)
			must.Do(t, os.Chtimes(filepath.Join(s.Dir, "folder", "planted"), earlier, earlier))
		}
		o := must.Get(c.Stat(t.Context(), at(t, s.URL("folder/planted"))))(t)
		if !bytes.Equal(download(t, c, o), want) || o.Version == "" {
			t.Errorf("other bytes, or no version: %+v", o)
		}
		s.PutObject("folder/planted", noise(1000, 2))
		if err := c.Read(t.Context(), o, make([]byte, 10), 0); !errors.Is(err, ErrChanged) {
			t.Errorf("replaced: %v", err)
		}
		o = must.Get(c.Stat(t.Context(), o.Location))(t)
		found := false
		for listed, err := range c.List(t.Context(), at(t, s.URL("folder/"))) {
			must.Do(t, err)
			found = found || listed.Key == o.Key && listed.Version == o.Version && listed.Size == o.Size
		}
		if !found {
			t.Errorf("%+v is not listed so", o)
		}
	})
}
