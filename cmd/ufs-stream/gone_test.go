package main

import (
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
)

// TestServerGone: a store that stops for good amid an upload is given up after a while, with
// the file that failed and those that are left. That takes half a minute, in which processes
// of their own wait and nothing else happens: other tests run meanwhile.
func TestServerGone(t *testing.T) {
	s, environ := storetest.S3Apart(t)
	proxy := storetest.NewProxy(t, s.Endpoint)
	in, _ := plant(t, 600, 3)
	at, temp := folder(t), t.TempDir()
	must(t, "select", in, "-k", "4", "-o", at("sel.json"))
	gone := make(chan struct{})
	stop := sync.OnceFunc(func() { s.Stop(); close(gone) })
	proxy.OnRequest(func(r *http.Request) *http.Response {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "part-001") {
			stop()
		}
		return nil
	})
	begin := func(said *strings.Builder, args ...string) *exec.Cmd {
		cmd := ownProcess(t, args...)
		cmd.Env = append(slices.Clone(environ), asProgram+"=1", "TMPDIR="+temp)
		cmd.Stderr = said
		if err := cmd.Start(); err != nil {
			t.Fatalf("starting the program: %v", err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() }) // where the test ends before it
		return cmd
	}
	ended := func(cmd *exec.Cmd, want int, said *strings.Builder, words ...string) {
		t.Helper()
		_ = cmd.Wait() // its code is looked at
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("exit code %d\n%s", code, said)
		}
		for _, word := range words {
			if !strings.Contains(said.String(), word) {
				t.Errorf("%q is not in:\n%s", word, said)
			}
		}
		tells(t, s, result{err: said.String()})
	}
	var ofApply, ofScan strings.Builder
	apply := begin(&ofApply, "apply", in, "--selection", at("sel.json"), "-o", s.URLAt(proxy.URL, "out"))
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Fatalf("the second file is not uploaded")
	}
	scan := begin(&ofScan, "scan", in, "-o", s.URLAt(proxy.URL, "x.ufs"), "--missing", "mean")

	t.Parallel() // waits until those tests have run that are not
	ended(apply, exit.TryAgain, &ofApply, "out/part-001.parquet", "could not be deleted: s3://lake/out/part-000.parquet", "run the same command again")
	ended(scan, exit.TryAgain, &ofScan, "x.ufs")
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
