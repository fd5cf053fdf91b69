// Package storetest starts real servers of object stores for tests: versitygw for S3,
// fake-gcs-server for Google's and azurite for Azure's, and a proxy that does to their
// answers what networks do.
package storetest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/must"
)

// Server is a running server with one empty bucket.
type Server struct {
	Scheme, Bucket string
	Endpoint       string // http://127.0.0.1:PORT, for a Proxy
	Dir            string // of S3: the folder that is the bucket; files in it are its objects
	Secrets        []string
	query          string // of its URLs, with %s for the endpoint

	put     func(key string, content []byte)
	t       testing.TB
	command func() *exec.Cmd
	running *exec.Cmd
	ended   chan struct{}
	log     *logged
}

// URL is the URL of a key.
func (s *Server) URL(key string) string { return s.URLAt(s.Endpoint, key) }

// URLAt is the URL of a key at another endpoint, such as a Proxy's.
func (s *Server) URLAt(endpoint, key string) string {
	return s.Scheme + "://" + s.Bucket + "/" + key + "?" + fmt.Sprintf(s.query, endpoint)
}

// Put stores an object, without the package that is under test. S3's becomes a file in Dir.
func (s *Server) Put(key string, content []byte) {
	s.t.Helper()
	s.put(key, content)
}

// Start starts a stopped server at the address that it had, and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	cmd := s.command()
	cmd.Stdout, cmd.Stderr = s.log, s.log
	must.Do(s.t, cmd.Start())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	s.running, s.ended = cmd, ended
	for begin := time.Now(); time.Since(begin) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
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

// Stop kills the server; what it stored stays.
func (s *Server) Stop() {
	if s.running != nil {
		_ = s.running.Process.Kill()
		<-s.ended
		s.running = nil
	}
}

// launch starts a server for the first time and has it killed when the test ends.
func launch(t testing.TB, s *Server) *Server {
	t.Helper()
	s.t, s.log = t, &logged{}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// freePort is a port of this machine that nobody listens at.
func freePort(t testing.TB) int {
	t.Helper()
	l := must.Get((&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// logged keeps a server's last words.
type logged struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all.Len() < 1<<20 {
		l.all.Write(b)
	}
	return len(b), nil
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// alone clears what this machine's user has configured for stores, so that a test finds
// only what it sets itself.
func alone(t testing.TB) {
	t.Helper()
	t.Setenv(cacheVariable, cacheDir(t))
	t.Setenv(homeVariable, userHome())
	home := t.TempDir()
	none := filepath.Join(home, "none")
	must.Do(t, os.WriteFile(none, nil, 0o600))
	for name, value := range map[string]string{
		"HOME": home, "AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "",
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "",
		"AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_ROLE_ARN": "",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"GOOGLE_APPLICATION_CREDENTIALS": "", "STORAGE_EMULATOR_HOST": "", "CLOUDSDK_CONFIG": home,
		"AZURE_STORAGE_ACCOUNT": "", "AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": "", "AZURE_STORAGE_CONNECTION_STRING": "",
		"AZURE_STORAGE_DOMAIN": "", "AZURE_STORAGE_PROTOCOL": "",
		"AZURE_TENANT_ID": "", "AZURE_CLIENT_ID": "", "AZURE_CLIENT_SECRET": "", "AZURE_FEDERATED_TOKEN_FILE": "", "AZURE_CONFIG_DIR": home,
		"NO_PROXY": "127.0.0.1,localhost",
	} {
		t.Setenv(name, value)
	}
}

// Alone is a test's environment without any store's configuration and credentials.
func Alone(t testing.TB) { t.Helper(); alone(t) }
