package storetest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/freeport"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/testtool"
)

// GCS starts fake-gcs-server, which keeps all objects in memory, until it stops. It needs no credentials.
func GCS(t testing.TB) *Server {
	t.Helper()
	setVariables(t, isolatedVariables(t))
	return startGCS(t)
}

func startGCS(t testing.TB) *Server {
	t.Helper()
	program := testtool.GoProgram(t, "fake-gcs-server", "github.com/fsouza/fake-gcs-server", "v1.56.1")
	port := freeport.FindPort(t)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	s := launchServer(t, &Server{
		Scheme: "gs", Bucket: "lake", Endpoint: "http://" + address, query: "endpoint=%s&anonymous=true",
		command: func() *exec.Cmd {
			return exec.Command(program, "-backend", "memory", "-scheme", "http", "-host", "127.0.0.1", //nolint:noctx // Stop ends it
				"-port", fmt.Sprint(port), "-public-host", address, "-log-level", "error")
		},
	})
	s.put = func(key string, content []byte) {
		t.Helper()
		address := s.Endpoint + "/upload/storage/v1/b/lake/o?uploadType=media&name=" + url.QueryEscape(key)
		mustSend(t, must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, address, bytes.NewReader(content)))(t))
	}
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, s.Endpoint+"/storage/v1/b", bytes.NewReader([]byte(`{"name":"lake"}`))))(t)
	r.Header.Set("Content-Type", "application/json")
	mustSend(t, r)
	return s
}

// mustSend sends a request that must succeed, over a new connection. A server may close a connection that was idle for
// some seconds, as on a busy machine, and a request sent on it would be lost.
func mustSend(t testing.TB, r *http.Request) {
	t.Helper()
	alone := &http.Transport{DisableKeepAlives: true}
	resp, err := alone.RoundTrip(r)
	must.Do(t, err)
	defer resp.Body.Close()
	if body := must.Get(io.ReadAll(resp.Body))(t); resp.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s\n%s", r.Method, r.URL, resp.Status, body)
	}
}
