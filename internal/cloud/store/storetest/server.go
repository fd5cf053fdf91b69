// Package storetest starts real servers of object stores for tests: versitygw for S3, fake-gcs-server for Google Cloud
// Storage and azurite for Azure. It also has a proxy that adds the faults of networks to their answers.
package storetest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/freeport"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/testtool"
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

// S3 starts versitygw, which serves a folder, and sets the environment to credentials that it accepts.
func S3(t testing.TB) *Server {
	t.Helper()
	setVariables(t, isolatedVariables(t), s3Credentials())
	return startS3(t)
}

// S3Apart starts versitygw without changing the environment of the test, so that the test may run in parallel to
// others. The second result is the environment, as "NAME=value", for a process that uses the server.
func S3Apart(t testing.TB) (*Server, []string) {
	t.Helper()
	environ := os.Environ()
	for _, variables := range []map[string]string{isolatedVariables(t), s3Credentials()} {
		for name, value := range variables {
			environ = append(environ, name+"="+value)
		}
	}
	return startS3(t), environ
}

const s3Access, s3Secret = "UFSTESTACCESSKEY0001", "ufs-test/secret+key=0123456789abcdefghij"

func s3Credentials() map[string]string {
	return map[string]string{"AWS_ACCESS_KEY_ID": s3Access, "AWS_SECRET_ACCESS_KEY": s3Secret}
}

func startS3(t testing.TB) *Server {
	t.Helper()
	program := testtool.GoProgram(t, "versitygw", "github.com/versity/versitygw/cmd/versitygw", "v1.8.0")
	root := t.TempDir()
	bucket := filepath.Join(root, "lake")
	must.Do(t, os.Mkdir(bucket, 0o755))
	address := fmt.Sprintf("127.0.0.1:%d", freeport.FindPort(t))
	return launchServer(t, &Server{
		Scheme: "s3", Bucket: "lake", Endpoint: "http://" + address, Dir: bucket, Secrets: []string{s3Secret},
		put: func(key string, content []byte) {
			path := filepath.Join(bucket, filepath.FromSlash(key))
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
			// Write a new file and rename it, because versitygw does not update the tag of a file that is overwritten.
			must.Do(t, os.WriteFile(filepath.Join(root, "planted"), content, 0o600))
			must.Do(t, os.Rename(filepath.Join(root, "planted"), path))
		},
		query: "endpoint=%s&region=us-east-1&use_path_style=true",
		command: func() *exec.Cmd {
			return exec.Command(program, "--access", s3Access, "--secret", s3Secret, "--port", address, "--quiet", "posix", root) //nolint:noctx // Stop ends it
		},
	})
}

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

// The account name that the emulator accepts, and its key, which is publicly known.
const (
	azureAccount = "devstoreaccount1"
	azureKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// Azure starts azurite, and sets the environment to an account and key that it accepts. azurite is a Node program. If
// npm is missing and cannot install it, the test is skipped with a message.
func Azure(t testing.TB) *Server {
	t.Helper()
	setVariables(t, isolatedVariables(t), azureCredentials())
	return startAzure(t)
}

func azureCredentials() map[string]string {
	return map[string]string{"AZURE_STORAGE_ACCOUNT": azureAccount, "AZURE_STORAGE_KEY": azureKey}
}

// azure is the one azurite of this process, if a test has started it. Node takes a second to start it, so each test gets
// a container of its own instead.
var azure struct {
	mu         sync.Mutex
	server     *Server
	containers int
	alive      *os.File // the other end of the server's standard input, which closes when this process ends
}

// azureScript runs azurite until its standard input is closed.
const azureScript = `process.stdin.on("end", () => process.exit()).resume(); process.argv.splice(1, 0, "azurite"); require(process.env.UFS_STREAM_TEST_AZURITE)`

func startAzure(t testing.TB) *Server {
	t.Helper()
	program := testtool.NodeProgram(t, "azurite-blob", "azurite", "3.35.0")
	azure.mu.Lock()
	defer azure.mu.Unlock()
	if azure.server == nil {
		port := freeport.FindPort(t)
		stdin, alive, err := os.Pipe()
		must.Do(t, err)
		azure.alive = alive
		server := &Server{
			Scheme: "azblob", Endpoint: fmt.Sprintf("http://127.0.0.1:%d", port), Secrets: []string{azureKey},
			query: "endpoint=%s/" + azureAccount,
			command: func() *exec.Cmd {
				cmd := exec.Command("node", "-e", azureScript, "--", "--blobPort", fmt.Sprint(port), "--inMemoryPersistence", "--silent", "--disableTelemetry", "--skipApiVersionCheck") //nolint:noctx // its standard input ends it
				cmd.Env = append(os.Environ(), "UFS_STREAM_TEST_AZURITE="+program)
				cmd.Stdin = stdin
				return cmd
			},
			t: t, log: &serverLog{},
		}
		server.Start()
		azure.server = server
	}
	s := *azure.server
	s.t, s.Bucket = t, "lake"
	if azure.containers++; azure.containers > 1 {
		s.Bucket = fmt.Sprint("lake", azure.containers)
	}
	sendSignedPut(t, s.Endpoint, "/"+s.Bucket, "restype=container", nil)
	bucket := s.Bucket
	s.put = func(key string, content []byte) {
		t.Helper()
		sendSignedPut(t, s.Endpoint, "/"+bucket+"/"+(&url.URL{Path: key}).EscapedPath(), "", content)
	}
	return &s
}

func sendSignedPut(t testing.TB, endpoint, path, query string, content []byte) {
	t.Helper()
	address := endpoint + "/" + azureAccount + path
	resource := "/" + azureAccount + "/" + azureAccount + path
	if query != "" {
		address += "?" + query
		resource += "\n" + strings.Replace(query, "=", ":", 1)
	}
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPut, address, bytes.NewReader(content)))(t)
	length, date := "", time.Now().UTC().Format(http.TimeFormat)
	if len(content) > 0 {
		length = fmt.Sprint(len(content))
	}
	r.Header.Set("X-Ms-Blob-Type", "BlockBlob")
	r.Header.Set("X-Ms-Date", date)
	r.Header.Set("X-Ms-Version", "2021-08-06")
	mac := hmac.New(sha256.New, must.Get(base64.StdEncoding.DecodeString(azureKey))(t))
	fmt.Fprintf(mac, "PUT\n\n\n%s\n\n\n\n\n\n\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:%s\nx-ms-version:2021-08-06\n%s", length, date, resource)
	r.Header.Set("Authorization", "SharedKey "+azureAccount+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	mustSend(t, r)
}
