//go:build unix

package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// inBucket are the objects of a bucket and their content.
func inBucket(t *testing.T, s *storetest.Server) map[string]string {
	t.Helper()
	c, all := store.New(store.Options{}), map[string]string{}
	for o, err := range c.List(t.Context(), must.Get(store.Parse(s.URL("")))(t)) {
		must.Do(t, err)
		var b bytes.Buffer
		must.Do(t, c.Download(t.Context(), o, &b))
		all[o.Key] = b.String()
	}
	return all
}

// wantBucket checks the contents of the bucket except the list.
func wantBucket(t *testing.T, s *storetest.Server, want map[string]string) {
	t.Helper()
	got := inBucket(t, s)
	delete(got, "out/"+listName)
	if !maps.Equal(got, want) {
		t.Errorf("the bucket has %q, want %q", got, want)
	}
}

// resumed is the folder out.
func resumed(t *testing.T, s *storetest.Server, wanted func(string) bool) *Dir {
	t.Helper()
	return must.Get(ResumeDir(t.Context(), s.URL("out"), wanted))(t)
}

// late is whether the list was put so long ago that it is put again after the next file.
func late(d *Dir, is bool) {
	d.objects.list.nextSave = time.Now().Add(time.Hour)
	if is {
		d.objects.list.nextSave = time.Time{}
	}
}

// wantRefused checks that err is of the output, and has words and a remedy.
func wantRefused(t *testing.T, err error, words string) {
	t.Helper()
	if out, ok := errors.AsType[*stream.OutputError](err); !ok || !strings.Contains(err.Error(), words) || out.Remedy.Format == "" {
		t.Errorf("%v, want %q", err, words)
	}
}

// A folder in a store that was left, or whose run was killed, can be resumed from anywhere: finished and
// unchanged files are reported as whole, all others are made again or removed.
func TestResumeObjectDir(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		for _, end := range []string{"left", "killed", "killed before the list"} {
			t.Run(end, func(t *testing.T) {
				d := resumed(t, s, all)
				if _, ok := d.LeaveForResume(t.Context()); ok {
					t.Error("a folder without a finished file is left")
				}
				for _, rel := range []string{"a", "b/c", "b/d", "e", "gone/x"} {
					late(d, end == "killed" && rel == "gone/x")
					build(t, d, rel, "text of "+rel)
				}
				f := must.Get(d.Create(t.Context(), "f"))(t) // the list does not have it yet
				must.Get(f.Write([]byte("half")))(t)
				must.Do(t, f.Commit())
				c, gone := d.objects.client, Whole
				switch end {
				case "left":
					if at := leave(t, d); !strings.HasPrefix(at, s.Scheme+"://"+s.Bucket+"/out/") {
						t.Errorf("it waits in %s", at)
					}
					must.Do(t, d.Abort(t.Context())) // does nothing now
				case "killed before the list":
					gone = Unfinished
				}
				s.PutObject("out/b/d", []byte("text of b/D"))
				must.Do(t, c.Delete(t.Context(), d.objects.locationOf("e")))
				kept := must.Get(c.Stat(t.Context(), d.objects.locationOf("a")))(t)

				if gone == Unfinished { // nobody knows that it was this run's
					must.Do(t, c.Delete(t.Context(), d.objects.locationOf("gone/x")))
				}
				d = resumed(t, s, func(rel string) bool { return rel != filepath.Join("gone", "x") })
				want := []Fate{gone, gone, Altered, Unfinished, Unfinished, Unfinished}
				if gone == Unfinished {
					want[2] = Unfinished
				}
				if got := fates(t, d, "a", "b/c", "b/d", "e", "f", "gone/x"); !slices.Equal(got, want) {
					t.Errorf("fates %v, want %v", got, want)
				}
				again := []string{"b/d", "e", "f"}
				if gone == Whole {
					if _, fate, err := d.CheckFinished(t.Context(), "a", "another"); fate != Outdated || err != nil {
						t.Errorf("of another recipe: %v, %v", fate, err)
					}
				} else {
					again = append(again, "a", "b/c")
				}
				for _, rel := range again {
					build(t, d, rel, "text of "+rel)
				}
				must.Do(t, d.Commit(t.Context()))
				whole := map[string]string{"out/" + wholeMark: ""}
				for _, rel := range []string{"a", "b/c", "b/d", "e", "f"} {
					whole["out/"+rel] = "text of " + rel
				}
				if got := inBucket(t, s); !maps.Equal(got, whole) {
					t.Errorf("the bucket has %q, want %q", got, whole)
				}
				if now := must.Get(c.Stat(t.Context(), d.objects.locationOf("a")))(t); gone == Whole && (now.Version != kept.Version || now.Modified != kept.Modified) {
					t.Error("a finished file was made again")
				}
				_, err := ResumeDir(t.Context(), s.URL("out"), all)
				wantRefused(t, err, "not empty")
				for key := range whole {
					must.Do(t, c.Delete(t.Context(), d.objects.location.WithKey(key)))
				}
			})
		}
	})
}

// A failing run deletes its own files and those of the runs before it.
func TestAbortResumedObjectDir(t *testing.T) {
	s := storetest.S3(t)
	for _, first := range []string{"a", "z"} {
		d := resumed(t, s, all)
		build(t, d, first, "x")
		leave(t, d)
	}
	d := resumed(t, s, func(rel string) bool { return rel != "z" })
	build(t, d, "b", "y")
	must.Do(t, d.Abort(t.Context()))
	if got := keys(t, s); len(got) > 0 {
		t.Errorf("the bucket has %q", got)
	}
	// If a store answers no more, the error names the files that remain; the list exists before any file.
	p := storetest.NewProxy(t, s.Endpoint)
	at := *s
	at.Endpoint = p.URL
	for _, files := range []string{"", "a"} {
		d := resumed(t, &at, all)
		left := "out/" + listName
		if files != "" {
			build(t, d, files, "x")
			left = "out/a?"
		}
		p.OnRequest(func(*http.Request) *http.Response { return storetest.NewAnswer(http.StatusForbidden, "") })
		err := d.Abort(t.Context())
		wantRefused(t, err, left)
		wantRefused(t, err, "out/"+listName)
		p.OnRequest(nil)
	}
	must.Do(t, resumed(t, s, all).Abort(t.Context()))
	wantBucket(t, s, map[string]string{})
}

// However a list was torn or damaged, files missing from it are made again.
func TestTornListOfObjects(t *testing.T) {
	s := storetest.S3(t)
	d := resumed(t, s, all)
	want := map[string]string{}
	for i := range 3 {
		build(t, d, fmt.Sprint(i), "text")
		want[fmt.Sprint("out/", i)] = "text"
	}
	leave(t, d)
	list := inBucket(t, s)["out/"+listName]
	for _, n := range []int{0, 1, strings.Index(list, "\n") + 1, len(list) / 2, len(list) - 1} {
		flipped := []byte(list)
		flipped[n] ^= 4
		for _, damaged := range []string{list[:n], string(flipped)} {
			s.PutObject("out/"+listName, []byte(damaged))
			d := resumed(t, s, all)
			for i := range 3 {
				rel := fmt.Sprint(i)
				fate := fates(t, d, rel)[0]
				if told := strings.Contains(damaged, `{"place":"`+rel+`"`); fate == Whole && !told || fate != Whole && fate != Unfinished {
					t.Errorf("%q: %s is %v", damaged, rel, fate)
				}
				if fate != Whole {
					build(t, d, rel, "text")
				}
			}
			leave(t, d)
			wantBucket(t, s, want)
			list = inBucket(t, s)["out/"+listName]
		}
	}
}

// A run may be left when the mark exists and only its answer was lost, and when the store no longer accepts a
// list: the folder then has no mark, and only the files that were in the last saved list count.
func TestLeaveObjectDir(t *testing.T) {
	s := storetest.S3(t)
	p := storetest.NewProxy(t, s.Endpoint)
	at := *s
	at.Endpoint = p.URL
	refuse := func(r *http.Request) *http.Response {
		if r.Method == http.MethodPut {
			return storetest.NewAnswer(http.StatusForbidden, "")
		}
		return nil
	}
	d := resumed(t, &at, all)
	build(t, d, "a", "x")
	p.OnAnswer(func(r *http.Request, resp *http.Response) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, wholeMark) {
			resp.StatusCode = http.StatusForbidden // written, and refused
		}
	})
	if err := d.Commit(t.Context()); err == nil {
		t.Error("a refused mark is no error")
	}
	wantBucket(t, s, map[string]string{"out/a": "x", "out/" + wholeMark: ""})
	leave(t, d)
	wantBucket(t, s, map[string]string{"out/a": "x"})

	d = resumed(t, &at, all)
	late(d, false)
	build(t, d, "b", "y")
	p.OnRequest(refuse)
	leave(t, d)
	d = resumed(t, s, all)
	if got := fates(t, d, "a", "b"); !slices.Equal(got, []Fate{Whole, Unfinished}) {
		t.Errorf("fates %v", got)
	}
	must.Do(t, d.Abort(t.Context()))

	p.OnRequest(nil)
	d = resumed(t, &at, all)
	late(d, false)
	build(t, d, "a", "x")
	p.OnRequest(refuse)
	if _, ok := d.LeaveForResume(t.Context()); ok {
		t.Error("a folder is left of which the store was told nothing")
	}
	must.Do(t, d.Abort(t.Context()))
	wantBucket(t, s, map[string]string{})
}
