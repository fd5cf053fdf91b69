package store

import (
	"errors"
	"net/http"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// An object is replaced over the version that is named, or made where there is none, and in no
// other case, with every store.
func TestReplace(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		p := storetest.NewProxy(t, s.Endpoint)
		c := client(nil)
		l := at(t, s.URLAt(p.URL, "a/list"))
		is := func(o Object, text string) {
			t.Helper()
			now := must.Get(c.Stat(t.Context(), l))(t)
			if got := download(t, c, now); string(got) != text || now.Version != o.Version || now.Size != o.Size || o.Version == "" {
				t.Errorf("there is %q of %+v, want %q of %+v", got, now, text, o)
			}
		}
		refused := func(was string) {
			t.Helper()
			_, err := c.Replace(t.Context(), l, []byte("another"), was)
			if _, ok := errors.AsType[*stream.OutputError](err); !ok || !errors.Is(err, ErrChanged) {
				t.Errorf("over version %q: %v", was, err)
			}
		}
		first := must.Get(c.Replace(t.Context(), l, []byte("one"), ""))(t)
		is(first, "one")
		refused("")
		second := must.Get(c.Replace(t.Context(), l, []byte("two"), first.Version))(t)
		refused(first.Version)
		is(second, "two")
		must.Do(t, c.Delete(t.Context(), l))
		refused(second.Version)
		if _, err := c.Stat(t.Context(), l); !errors.Is(err, ErrNotExist) {
			t.Errorf("a refused one is there: %v", err)
		}
		// A store that has no conditions is asked without.
		conditional := func(r *http.Request) bool {
			return r.Header.Get("If-None-Match")+r.Header.Get("If-Match")+r.URL.Query().Get("ifGenerationMatch") != ""
		}
		p.OnRequest(func(r *http.Request) *http.Response {
			if r.Method != http.MethodGet && conditional(r) {
				return storetest.NewAnswer(http.StatusNotImplemented, "")
			}
			return nil
		})
		is(must.Get(c.Replace(t.Context(), l, []byte("three"), second.Version))(t), "three")
		// What is wrong with the store is no condition.
		s.Bucket = "nolake"
		if _, err := c.Replace(t.Context(), at(t, s.URL("x")), nil, ""); err == nil || errors.Is(err, ErrChanged) {
			t.Errorf("in a missing bucket: %v", err)
		}
	})
}
