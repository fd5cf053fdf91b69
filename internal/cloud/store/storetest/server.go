// Package storetest starts real servers of object stores for tests: versitygw for S3, fake-gcs-server for Google Cloud
// Storage and azurite for Azure. It also has a proxy that adds the faults of networks to their answers.
package storetest

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Server is a running server with one empty bucket.
type Server struct {
	Scheme, Bucket string
	Endpoint       string // http://127.0.0.1:PORT, to which a Proxy can forward
	Dir            string // only for S3: the folder that is the bucket; its files are the objects
	Secrets        []string
	query          string // query of the server's URLs, with %s for the endpoint

	put     func(key string, content []byte)
	t       testing.TB
	command func() *exec.Cmd
	running *exec.Cmd
	ended   chan struct{}
	log     *serverLog
}

// URL returns the URL of a key.
func (s *Server) URL(key string) string { return s.URLAt(s.Endpoint, key) }

// URLAt returns the URL of a key at another endpoint, such as the endpoint of a Proxy.
func (s *Server) URLAt(endpoint, key string) string {
	return s.Scheme + "://" + s.Bucket + "/" + key + "?" + fmt.Sprintf(s.query, endpoint)
}

// PutObject stores an object, without using package store. With S3 it writes a file in Dir.
func (s *Server) PutObject(key string, content []byte) {
	s.t.Helper()
	s.put(key, content)
}

// Start starts a stopped server at its former address, and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	cmd := s.command()
	cmd.Stdout, cmd.Stderr = s.log, s.log
	must.Do(s.t, cmd.Start())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	s.running, s.ended = cmd, ended
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(10 * time.Millisecond) {
		select {
		case <-ended:
			s.t.Fatalf("%s ended:\n%s", cmd.Path, s.log)
		default:
		}
		resp, err := http.Get(s.Endpoint + "/") //nolint:noctx // of a test
		if err == nil {
			resp.Body.Close()
			return
		}
	}
	s.t.Fatalf("%s does not answer:\n%s", cmd.Path, s.log)
}

// Stop kills the server. Its objects remain if the server keeps them on disk.
func (s *Server) Stop() {
	if s.running != nil {
		_ = s.running.Process.Kill()
		<-s.ended
		s.running = nil
	}
}

func launchServer(t testing.TB, s *Server) *Server {
	t.Helper()
	s.t, s.log = t, &serverLog{}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// serverLog keeps the end of a server's output.
type serverLog struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *serverLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all.Len() < 1<<20 {
		l.all.Write(b)
	}
	return len(b), nil
}

func (l *serverLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}
