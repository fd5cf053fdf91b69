package storetest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/freeport"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/testtool"
)

// GCS starts fake-gcs-server, which keeps everything in memory: what it stored is gone when
// it is stopped. It asks for no credentials.
func GCS(t testing.TB) *Server {
	t.Helper()
	setenv(t, alone(t))
	return startGCS(t)
}

func startGCS(t testing.TB) *Server {
	t.Helper()
	program := testtool.Go(t, "fake-gcs-server", "github.com/fsouza/fake-gcs-server", "v1.56.1")
	port := freeport.Get(t)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	s := launch(t, &Server{
		Scheme: "gs", Bucket: "lake", Endpoint: "http://" + address, query: "endpoint=%s&anonymous=true",
		command: func() *exec.Cmd {
			return exec.Command(program, "-backend", "memory", "-scheme", "http", "-host", "127.0.0.1", //nolint:noctx // Stop ends it
				"-port", fmt.Sprint(port), "-public-host", address, "-log-level", "error")
		},
	})
	s.put = func(key string, content []byte) {
		t.Helper()
		address := s.Endpoint + "/upload/storage/v1/b/lake/o?uploadType=media&name=" + url.QueryEscape(key)
		sent(t, must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, address, bytes.NewReader(content)))(t))
	}
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, s.Endpoint+"/storage/v1/b", bytes.NewReader([]byte(`{"name":"lake"}`))))(t)
	r.Header.Set("Content-Type", "application/json")
	sent(t, r)
	return s
}

// sent sends a request that must be answered well, by a connection of its own: a server closes one that is idle for
// some seconds, as they are on a busy machine, and what is being sent by it then is lost.
func sent(t testing.TB, r *http.Request) {
	t.Helper()
	alone := &http.Transport{DisableKeepAlives: true}
	resp, err := alone.RoundTrip(r)
	must.Do(t, err)
	defer resp.Body.Close()
	if body := must.Get(io.ReadAll(resp.Body))(t); resp.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s\n%s", r.Method, r.URL, resp.Status, body)
	}
}
