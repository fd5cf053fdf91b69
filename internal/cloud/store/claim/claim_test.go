package claim

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

func write(t *testing.T, o *Object, text string) error {
	return o.Write(t.Context(), append(o.TitleLine(), text...))
}

// Who wrote last goes on, and who wrote before does not, with every store.
func TestLastWriterOwns(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		l := must.Get(store.Parse(s.URL("folder/list")))(t)
		client := store.New(store.Options{})
		run := func() *Object { return New(client, l, "run") }
		reads := func(want string) *Object {
			t.Helper()
			o := run()
			if text, found, err := o.Read(t.Context()); string(text) != want || !found || err != nil {
				t.Errorf("there is %q, %v, %v, want %q", text, found, err, want)
			}
			return o
		}
		first, late := run(), run()
		for _, o := range []*Object{first, late} {
			if _, found, err := o.Read(t.Context()); found || err != nil {
				t.Fatalf("nothing is found: %v, %v", found, err)
			}
		}
		must.Do(t, write(t, first, "a\n"))
		must.Do(t, write(t, first, "a\nb\n"))
		for range 2 { // a refusal does not teach it the stored text
			if err := write(t, late, "a\nb\n"); !errors.Is(err, ErrTaken) {
				t.Errorf("a run that found nothing: %v", err)
			}
		}
		second := reads("a\nb\n")
		must.Do(t, write(t, first, "c"))
		if err := write(t, second, ""); !errors.Is(err, ErrTaken) {
			t.Errorf("what was read is not there: %v", err)
		}
		second = reads("c")
		must.Do(t, write(t, second, "c"))
		if err := write(t, first, "d"); !errors.Is(err, ErrTaken) {
			t.Errorf("a run whose object was taken over: %v", err)
		}
		reads("c")
		owns := func(o *Object, want bool) {
			t.Helper()
			if own, err := o.IsOwned(t.Context()); own != want || err != nil {
				t.Errorf("the run owns it: %v, %v, want %v", own, err, want)
			}
		}
		owns(first, false)
		owns(second, true)
		s.PutObject("folder/list", []byte("short"))
		owns(second, false)
		must.Do(t, second.Remove(t.Context()))
		owns(second, false)
		if err := write(t, second, ""); !errors.Is(err, ErrTaken) {
			t.Errorf("an object that is gone: %v", err)
		}
	})
}

// A write whose answer is lost was written by the same run; so was one that failed before.
func TestLostAnswer(t *testing.T) {
	s := storetest.S3(t)
	p := storetest.NewProxy(t, s.Endpoint)
	o := New(store.New(store.Options{}), must.Get(store.Parse(s.URLAt(p.URL, "list")))(t), "run")
	var puts atomic.Int64
	lose := func(how func(resp *http.Response)) {
		puts.Store(0)
		p.OnAnswer(func(r *http.Request, resp *http.Response) {
			if r.Method == http.MethodPut && puts.Add(1) == 1 {
				how(resp)
			}
		})
	}
	reset := func(*http.Response) { panic(http.ErrAbortHandler) }
	text := ""
	for range 3 {
		text += "line\n"
		lose(reset)
		must.Do(t, write(t, o, text))
		lose(func(resp *http.Response) { resp.StatusCode = http.StatusForbidden })
		if err := write(t, o, text+"x"); err == nil || errors.Is(err, ErrTaken) {
			t.Errorf("refused, but written: %v", err)
		}
	}
	must.Do(t, write(t, o, "the end"))
	if got, _, err := o.Read(t.Context()); err != nil || strings.TrimSpace(string(got)) != "the end" {
		t.Errorf("there is %q, %v", got, err)
	}
}

// A store that is busy with an object answers as if another had written it.
func TestConflict(t *testing.T) {
	s := storetest.S3(t)
	p := storetest.NewProxy(t, s.Endpoint)
	o := New(store.New(store.Options{}), must.Get(store.Parse(s.URLAt(p.URL, "list")))(t), "run")
	for _, text := range []string{"a", "b"} { // made, and replaced
		var puts atomic.Int64
		p.OnRequest(func(r *http.Request) *http.Response {
			if r.Method == http.MethodPut && puts.Add(1) == 1 {
				return storetest.NewAnswer(http.StatusConflict, "<Error><Code>ConditionalRequestConflict</Code></Error>")
			}
			return nil
		})
		must.Do(t, write(t, o, text))
	}
}
