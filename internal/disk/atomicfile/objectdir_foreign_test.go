//go:build unix

package atomicfile

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// A run that another has superseded stops at the next file, or at the end, and deletes nothing.
func TestResumeObjectDirTwice(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		first := resumed(t, s, all)
		late(first, true)
		build(t, first, "a", "x")
		second := resumed(t, s, all)
		if got := fates(t, second, "a"); got[0] != Whole {
			t.Errorf("what the first has made: %v", got)
		}
		f := must.Get(first.Create(t.Context(), "b"))(t)
		must.Do(t, f.Commit())
		late(first, true)
		wantRefused(t, first.RecordFile(t.Context(), "b", f, "", 0), "another run is building it")
		if _, ok := first.LeaveForResume(t.Context()); ok {
			t.Error("a folder of another is left")
		}
		must.Do(t, first.Abort(t.Context()))

		third := resumed(t, s, all)
		wantRefused(t, second.Abort(t.Context()), "another run is building it")
		fourth := resumed(t, s, all)
		wantRefused(t, third.Commit(t.Context()), "another run is building it")
		must.Do(t, third.Abort(t.Context()))
		build(t, fourth, "b", "y")
		must.Do(t, fourth.Commit(t.Context()))
		wantBucket(t, s, map[string]string{"out/a": "x", "out/b": "y", "out/" + wholeMark: ""})
	})
}

// If a superseded run writes before it learns so, the end of the other run notices, even in a store without
// conditional writes: a folder with a foreign file is not marked as whole.
func TestDisturbedObjectDir(t *testing.T) {
	s := storetest.GCS(t)
	p := storetest.NewProxy(t, s.Endpoint)
	p.OnRequest(func(r *http.Request) *http.Response {
		query := r.URL.Query()
		query.Del("ifGenerationMatch")
		r.URL.RawQuery = query.Encode()
		return nil
	})
	s.Endpoint = p.URL
	first := resumed(t, s, all)
	build(t, first, "a", "of the first")
	second := resumed(t, s, func(rel string) bool { return rel != "c" })
	build(t, second, "a", "of the second")
	build(t, first, "a", "of the first")
	wantRefused(t, second.Commit(t.Context()), "out/a?")
	must.Do(t, second.Abort(t.Context()))
	third := resumed(t, s, func(rel string) bool { return rel != "c" })
	build(t, third, "a", "of the third")
	build(t, first, "c", "of the first")
	wantRefused(t, third.Commit(t.Context()), "out/c?")
	must.Do(t, third.Abort(t.Context()))
	wantBucket(t, s, map[string]string{"out/a": "of the third", "out/c": "of the first"})
	must.Do(t, first.objects.client.Delete(t.Context(), first.objects.locationOf("c")))
	fourth := resumed(t, s, func(rel string) bool { return rel != "c" })
	build(t, fourth, "a", "of the fourth")
	must.Do(t, fourth.Commit(t.Context()))
	wantBucket(t, s, map[string]string{"out/a": "of the fourth", "out/" + wholeMark: ""})
}

// Of many objects that the folder's listing has otherwise some are asked for at once, and the error is of the first in
// their order, whichever is answered first.
func TestManyDisturbedObjects(t *testing.T) {
	const n = 20
	s := storetest.S3(t)
	p := storetest.NewProxy(t, s.Endpoint)
	at := *s
	at.Endpoint = p.URL
	for _, c := range []struct {
		changed []int
		refused int // its state is no answer; -1 for none
		words   string
	}{{[]int{17, 3, 18}, -1, "out/03?"}, {[]int{17, 3}, 2, "out/02?"}, {[]int{18, 17}, -1, "out/17?"}, {nil, 19, "out/19?"}} {
		d := resumed(t, &at, all)
		for i := range n {
			build(t, d, fmt.Sprintf("%02d", i), "text")
		}
		var asked atomic.Int64
		together := make(chan struct{})
		p.OnAnswer(func(r *http.Request, resp *http.Response) {
			if r.URL.Query().Has("list-type") { // which has another tag of each
				body := must.Get(io.ReadAll(resp.Body))(t)
				body = bytes.ReplaceAll(body, []byte("<ETag>&#34;"), []byte("<ETag>&#34;listed"))
				resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
				resp.Header.Set("Content-Length", fmt.Sprint(len(body)))
			}
		})
		p.OnRequest(func(r *http.Request) *http.Response {
			i, err := strconv.Atoi(path.Base(r.URL.Path))
			if err != nil {
				return nil
			}
			if i == c.refused {
				return storetest.NewAnswer(http.StatusForbidden, "")
			}
			if asked.Add(1) == parallelChecks-1 {
				close(together)
			}
			if i == 0 { // it is answered last; one by one, it never is, and given up for a store that does not answer
				select {
				case <-together:
				case <-r.Context().Done():
				}
			}
			return nil
		})
		for _, i := range c.changed {
			s.PutObject(fmt.Sprintf("out/%02d", i), []byte("TEXT"))
		}
		wantRefused(t, d.Commit(t.Context()), c.words)
		p.OnRequest(nil)
		p.OnAnswer(nil)
		for key := range inBucket(t, s) {
			must.Do(t, os.Remove(filepath.Join(s.Dir, filepath.FromSlash(key))))
		}
	}
}

// A folder is not taken over that has an object of which nobody knows whose it is, and nothing in
// it is changed.
func TestForeignObject(t *testing.T) {
	s := storetest.S3(t)
	d := resumed(t, s, all)
	build(t, d, "a", "x")
	build(t, d, "b", "y")
	leave(t, d)
	for key, words := range map[string]string{"out/z": "out/z", "out/" + wholeMark: "not empty"} {
		s.PutObject(key, []byte("foreign"))
		before := inBucket(t, s)
		_, err := ResumeDir(t.Context(), s.URL("out"), func(rel string) bool { return rel == "a" })
		wantRefused(t, err, words)
		if got := inBucket(t, s); !maps.Equal(got, before) {
			t.Errorf("the bucket has %q, before it had %q", got, before)
		}
		must.Do(t, os.Remove(filepath.Join(s.Dir, filepath.FromSlash(key))))
	}
	// Without a list, even wanted files belong to another run: older releases have left such folders.
	must.Do(t, os.Remove(filepath.Join(s.Dir, "out", listName)))
	_, err := ResumeDir(t.Context(), s.URL("out"), all)
	wantRefused(t, err, "not empty")
	wantBucket(t, s, map[string]string{"out/a": "x", "out/b": "y"})
}
