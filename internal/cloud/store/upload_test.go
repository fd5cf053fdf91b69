package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// leftovers are what a store holds of uploads that did not end: of S3 those it lists and
// their files, of Azure the blocks in no blob.
func leftovers(t *testing.T, c *Client, s *storetest.Server, key string) (left []string) {
	t.Helper()
	l := at(t, s.URL(key))
	d := must.Get(c.dialectOf(t.Context(), l))(t)
	var r request
	switch d := d.(type) {
	case *s3:
		r = request{method: http.MethodGet, url: d.keyURL(l, "", url.Values{"uploads": {""}})}
		must.Do(t, filepath.WalkDir(filepath.Dir(s.Dir), func(path string, entry fs.DirEntry, err error) error {
			if entry.IsDir() && entry.Name() == ".vgwlocks" {
				return fs.SkipDir // the server's own
			}
			if err == nil && !entry.IsDir() {
				left = append(left, path)
			}
			return err
		}))
	case *azure:
		r = request{method: http.MethodGet, url: d.keyURL(l, key, url.Values{"comp": {"blocklist"}, "blocklisttype": {"uncommitted"}}), okStatuses: []int{200, 404}}
	default:
		return nil
	}
	must.Do(t, c.sendWithRetries(t.Context(), d, r, func(resp *http.Response) error {
		body, err := io.ReadAll(resp.Body)
		if strings.Contains(string(body), "<UploadId>") || strings.Contains(string(body), "<Block>") {
			left = append(left, string(body))
		}
		return err
	}))
	return left
}

// broken is a source that cannot be read beyond a place.
type broken struct {
	*bytes.Reader
	from int64
}

var errBroken = errors.New("the disk is broken")

func (b broken) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > b.from {
		return 0, errBroken
	}
	return b.Reader.ReadAt(p, at)
}

// An upload that fails or is cancelled leaves neither an object nor its parts, and what was
// there before stays.
func TestUploadLeavesNothing(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		p := storetest.NewProxy(t, s.Endpoint)
		c := clientOf(s, nil)
		c.patience.bound = 500 * time.Millisecond
		size := 4*c.part + 5
		content := noise(size, 1)
		cases := map[string]func(ctx context.Context, l Location, cancel func()) error{
			"source": func(ctx context.Context, l Location, _ func()) error {
				err := failure(c.Upload(ctx, l, broken{bytes.NewReader(content), 2 * c.part}, size))
				if !errors.Is(err, errBroken) {
					t.Errorf("a broken source: %v", err)
				}
				return err
			},
			"refused": func(ctx context.Context, l Location, _ func()) error {
				var parts atomic.Int64
				p.OnRequest(func(r *http.Request) *http.Response {
					if r.Method == http.MethodPut && parts.Add(1) >= 3 && r.ContentLength > 1000 {
						return storetest.NewAnswer(http.StatusForbidden, "")
					}
					return nil
				})
				return failure(c.Upload(ctx, l, bytes.NewReader(content), size))
			},
			"unreachable": func(ctx context.Context, l Location, _ func()) error {
				var parts atomic.Int64
				p.OnRequest(func(r *http.Request) *http.Response {
					if r.Method == http.MethodPut && r.ContentLength > 1000 && parts.Add(1) >= 3 {
						panic(http.ErrAbortHandler)
					}
					return nil
				})
				return failure(c.Upload(ctx, l, bytes.NewReader(content), size))
			},
			"cancelled": func(ctx context.Context, l Location, cancel func()) error {
				var parts atomic.Int64
				p.OnRequest(func(r *http.Request) *http.Response {
					if r.Method == http.MethodPut && parts.Add(1) == 3 {
						cancel()
					}
					return nil
				})
				err := failure(c.Upload(ctx, l, bytes.NewReader(content), size))
				if err != context.Canceled { //nolint:errorlint // nothing may be around it
					t.Errorf("cancelled: %v", err)
				}
				return err
			},
			"cancelled at once": func(ctx context.Context, l Location, cancel func()) error {
				p.OnRequest(func(*http.Request) *http.Response { cancel(); return nil })
				return failure(c.Upload(ctx, l, bytes.NewReader(content), size))
			},
		}
		for what, upload := range cases {
			ctx, cancel := context.WithCancel(t.Context())
			l := at(t, s.URLAt(p.URL, "folder/object"))
			err := upload(ctx, l, cancel)
			cancel()
			p.OnRequest(nil)
			var cannot *stream.OutputError
			if err == nil || !strings.HasPrefix(what, "cancelled") && !errors.As(err, &cannot) {
				t.Errorf("%s: error %v, want an output error", what, err)
			}
			if _, err := c.Stat(t.Context(), l); !errors.Is(err, ErrNotExist) {
				t.Errorf("%s: the object is there: %v", what, err)
			}
			if left := leftovers(t, c, s, "folder/object"); len(left) > 0 {
				t.Errorf("%s: left %q", what, left)
			}
			before := put(t, c, s.URLAt(p.URL, "folder/object"), content[:100])
			ctx, cancel = context.WithCancel(t.Context())
			_ = upload(ctx, l, cancel)
			cancel()
			p.OnRequest(nil)
			if now := must.Get(c.Stat(t.Context(), l))(t); now.Version != before.Version || now.Size != before.Size {
				t.Errorf("%s: the object before it was %+v, is %+v", what, before, now)
			}
			must.Do(t, c.Delete(t.Context(), l))
		}
	})
}

// If the answer to an upload's last request is lost, the object is looked for.
func TestLostEndOfUpload(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		p := storetest.NewProxy(t, s.Endpoint)
		c := clientOf(s, nil)
		l := at(t, s.URLAt(p.URL, "object"))
		// Over nothing, over an object of the same size, and over the same object.
		for i, seed := range []uint64{1, 2, 2} {
			content := noise(2*c.part+1, seed)
			var lost, ends atomic.Int64
			p.OnAnswer(func(r *http.Request, resp *http.Response) {
				query := r.URL.Query()
				end := r.Method == http.MethodPost && query.Has("uploadId") || query.Get("comp") == "blocklist" ||
					query.Get("uploadType") == "resumable" && r.Method == http.MethodPut && resp.StatusCode == http.StatusOK
				if end {
					ends.Add(1)
				}
				if end && lost.Add(1) == 1 {
					panic(http.ErrAbortHandler)
				}
			})
			must.Do(t, failure(c.Upload(t.Context(), l, bytes.NewReader(content), int64(len(content)))))
			p.OnAnswer(nil)
			o := must.Get(c.Stat(t.Context(), l))(t)
			if lost.Load() < 1 || ends.Load() > 1 && i < 2 || !bytes.Equal(download(t, c, o), content) {
				t.Errorf("%d answers were lost, of %d", lost.Load(), ends.Load())
			}
		}
	})
}

// Faults on the way do not change the uploaded bytes.
func TestUploadWithFaults(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		p := storetest.NewProxy(t, s.Endpoint)
		p.BusyEach.Store(5)
		if s.Scheme != "gs" {
			p.ResetEach.Store(7) // fake-gcs-server appends a part again that it has already
		}
		var meter stream.Meter
		c := clientOf(s, &meter)
		c.patience.bound = 30 * time.Second // a part may take seconds on a busy machine
		for i := range uint64(3) {
			content := noise(6*c.part+int64(i), i)
			o := put(t, c, s.URLAt(p.URL, "object"), content)
			if !bytes.Equal(download(t, c, o), content) {
				t.Error("other bytes")
			}
		}
		if meter.Retries.Load() == 0 {
			t.Error("no retry was counted")
		}
	})
}
