package storetest

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Every server can be installed, starts, takes an object and starts again where it was, and
// a proxy passes on what it says.
func TestServersStart(t *testing.T) {
	RunEverywhere(t, func(t *testing.T, s *Server) {
		t.Logf("%s: %s", s.Scheme, s.running.Path)
		answer := func(endpoint string) (int, []byte) {
			resp, err := http.Get(endpoint + "/lake/none") //nolint:noctx // of a test
			must.Do(t, err)
			defer resp.Body.Close()
			return resp.StatusCode, must.Get(io.ReadAll(resp.Body))(t)
		}
		s.PutObject("a/key", []byte("content"))
		direct, want := answer(s.Endpoint)
		s.Stop()
		if resp, err := http.Get(s.Endpoint); err == nil { //nolint:noctx // of a test
			resp.Body.Close()
			t.Error("a stopped server answers")
		}
		s.Start()
		proxy := NewProxy(t, s.Endpoint)
		if status, got := answer(proxy.URL); status != direct || len(got) != len(want) {
			t.Errorf("through a proxy %d %s, without %d %s", status, got, direct, want)
		}
		if requests, n := proxy.RequestCounts(); requests[http.MethodGet] != 1 || n != int64(len(want)) {
			t.Errorf("counted %v and %d bytes", requests, n)
		}
		proxy.OnRequest(func(*http.Request) *http.Response { return NewAnswer(http.StatusTeapot, "short") })
		if status, got := answer(proxy.URL); status != http.StatusTeapot || !bytes.Equal(got, []byte("short")) {
			t.Errorf("answered %d %s", status, got)
		}
	})
}
