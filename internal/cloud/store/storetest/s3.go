package storetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/freeport"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/testtool"
)

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
