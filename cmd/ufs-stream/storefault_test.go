package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
)

// noisy writes a file whose statistics take several parts to upload.
func noisy(t *testing.T, path string) {
	t.Helper()
	const rows, columns = 40, 2400
	rng := rand.New(rand.NewPCG(1, 2))
	data := make([][]float64, columns)
	names := make([]string, columns)
	for j := range data {
		names[j] = "x" + strings.Repeat("0", 3) + string(rune('a'+j%26)) + time.Duration(j).String()
		data[j] = make([]float64, rows)
		for i := range data[j] {
			data[j][i] = rng.NormFloat64()
		}
	}
	columnsFile(t, path, names, data...)
}

const denied = `<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>no</Message></Error>`

// TestOutputsThatAStoreRefuses: what is wrong with the place of the output is said before
// the work begins, with exit code 1, and nothing is there then.
func TestOutputsThatAStoreRefuses(t *testing.T) {
	s := storetest.S3(t)
	in, _ := plant(t, 300, 2)
	proxy := storetest.NewProxy(t, s.Endpoint)
	check := func(code int, says string, args ...string) {
		t.Helper()
		r := invoke(args...)
		if r.code != code || !strings.Contains(r.err, says) || r.out != "" {
			t.Errorf("%s: exit code %d, want %d and something of %q:\n%s", strings.Join(args, " "), r.code, code, says, r.err)
		}
		tells(t, s, r)
		wantObjects(t, s)
	}
	verbs := [][]string{{"select", in, "-k", "3"}, {"scan", in}, {"plan", in}, {"inspect", in}, {"path", in, "-k", "3"}, {"tree", in, "--tree", "correlation"}}
	for _, verb := range verbs {
		check(exit.Fault, "there is no bucket absent", append(verb, "-o", strings.Replace(s.URL("x.json"), "lake", "absent", 1))...)
	}
	for _, verb := range verbs[:2] {
		check(exit.Fault, "names a folder", append(verb, "-o", s.URL(""), "--progress", "off")...)
		check(exit.Usage, "can only be read", append(verb, "-o", "https://127.0.0.1:1/x.json?sig="+plantedSecret)...)
		check(exit.Usage, "knows no parameter", append(verb, "-o", s.URL("x.json")+"&secret_key="+plantedSecret)...)
	}
	proxy.OnRequest(func(r *http.Request) *http.Response {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return nil
		}
		return storetest.NewAnswer(http.StatusForbidden, denied)
	})
	for _, verb := range verbs[:2] {
		check(exit.Fault, "access is denied", append(verb, "-o", s.URLAt(proxy.URL, "x.json"))...)
	}
	proxy.OnRequest(func(r *http.Request) *http.Response { // only in the end
		if r.Method != http.MethodPut {
			return nil
		}
		return storetest.NewAnswer(http.StatusForbidden, denied)
	})
	check(exit.Fault, "access is denied", "scan", in, "-o", s.URLAt(proxy.URL, "x.ufs"))
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong-but-secret-0123456789")
	s.Secrets = append(s.Secrets, "wrong-but-secret-0123456789")
	for _, verb := range verbs[:2] {
		check(exit.Fault, "secret key", append(verb, "-o", s.URL("x.json"))...)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "NOBODY")
	check(exit.Fault, "", "select", in, "-k", "3", "-o", s.URL("x.json"))
	check(exit.Data, "", "select", "--stats", s.URL("x.ufs"), "-k", "3")
	check(exit.Data, "", "apply", in, "--selection", s.URL("x.json"), "-o", filepath.Join(t.TempDir(), "x"))
	check(exit.Data, "", "report", s.URL("x.json"), "-o", filepath.Join(t.TempDir(), "x.html"))
	check(exit.Data, "", "merge", s.URL("x.ufs"), "-o", filepath.Join(t.TempDir(), "x.ufs"))
}

// TestUploadsOverABadNetwork: a large upload that is answered badly now and then succeeds.
func TestUploadsOverABadNetwork(t *testing.T) {
	s := storetest.S3(t)
	proxy := storetest.NewProxy(t, s.Endpoint)
	at := folder(t)
	noisy(t, at("wide.parquet"))
	must(t, "scan", at("wide.parquet"), "-o", at("all.ufs"))
	proxy.BusyEach.Store(3)
	must(t, "scan", at("wide.parquet"), "-o", s.URLAt(proxy.URL, "all.ufs"))
	proxy.BusyEach.Store(0)
	proxy.ResetEach.Store(4)
	must(t, "merge", s.URLAt(proxy.URL, "all.ufs"), "-o", s.URLAt(proxy.URL, "again.ufs"))
	wantObjects(t, s, "again.ufs", "all.ufs")
	for _, key := range []string{"all.ufs", "again.ufs"} {
		if read(t, filepath.Join(s.Dir, key)) != read(t, at("all.ufs")) {
			t.Errorf("%s differs from the file", key)
		}
	}
}

// TestInterruptedUpload: Ctrl-C amid an upload in parts leaves no object and no parts, and
// what was there before.
func TestInterruptedUpload(t *testing.T) {
	s := storetest.S3(t)
	proxy := storetest.NewProxy(t, s.Endpoint)
	at := folder(t)
	noisy(t, at("wide.parquet"))
	old := write(t, at("old"), "what was there before")
	upload(t, s, old, "all.ufs")
	for _, key := range []string{"new.ufs", "all.ufs"} {
		sending, ended := make(chan struct{}), make(chan struct{})
		once := sync.OnceFunc(func() { close(sending) })
		proxy.OnRequest(func(r *http.Request) *http.Response {
			if r.Method == http.MethodPut && r.URL.Query().Has("partNumber") {
				once()
				<-ended // the part is on its way until then
			}
			return nil
		})
		cmd := ownProcess(t, "scan", at("wide.parquet"), "-o", s.URLAt(proxy.URL, key))
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatalf("starting the program: %v", err)
		}
		select {
		case <-sending:
		case <-time.After(time.Minute):
			close(ended)
			t.Fatalf("no part is uploaded: %s", said.String())
		}
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatalf("signalling the program: %v", err)
		}
		_ = cmd.Wait() // its code is looked at
		close(ended)
		if code := cmd.ProcessState.ExitCode(); code != exit.Interrupted || !strings.Contains(said.String(), "interrupted") {
			t.Errorf("exit code %d: %s", code, said.String())
		}
		tells(t, s, result{err: said.String()})
		wantObjects(t, s, "all.ufs")
		if read(t, filepath.Join(s.Dir, "all.ufs")) != read(t, old) {
			t.Error("the old object has changed")
		}
	}
}

// TestFailedFolder: if a file of a folder fails, the files uploaded before it are deleted. If the run is interrupted,
// they are kept and continued from.
func TestFailedFolder(t *testing.T) {
	s := storetest.S3(t)
	proxy := storetest.NewProxy(t, s.Endpoint)
	in, paths := plant(t, 600, 5)
	sel := filepath.Join(t.TempDir(), "sel.json")
	must(t, "select", in, "-k", "4", "-o", sel)
	var puts atomic.Int64
	third := func(does func(r *http.Request) *http.Response) {
		puts.Store(0)
		proxy.OnRequest(func(r *http.Request) *http.Response {
			if r.Method != http.MethodPut || strings.HasSuffix(r.URL.Path, "/_ufs_finished") {
				return nil
			}
			if puts.Add(1) < 3 {
				return nil
			}
			return does(r)
		})
	}
	out := s.URLAt(proxy.URL, "out/")
	third(func(*http.Request) *http.Response { return storetest.NewAnswer(http.StatusForbidden, denied) })
	r := invoke("apply", in, "--selection", sel, "-o", out)
	if r.code != exit.Fault || !strings.Contains(r.err, "out/part-002.parquet") || !strings.Contains(r.err, "access is denied") || puts.Load() != 3 {
		t.Errorf("exit code %d after %d uploads: %s", r.code, puts.Load(), r.err)
	}
	tells(t, s, r)
	wantObjects(t, s)

	// The mark at the end fails: nothing tells that the folder is whole, so it must not be.
	proxy.OnRequest(func(r *http.Request) *http.Response {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "_SUCCESS") {
			return storetest.NewAnswer(http.StatusForbidden, denied)
		}
		return nil
	})
	ends(t, exit.Fault, "_SUCCESS", "apply", in, "--selection", sel, "-o", out)
	wantObjects(t, s)

	// Bad data in the third file.
	proxy.OnRequest(nil)
	bad := t.TempDir()
	for i, p := range paths {
		text := read(t, p)
		if i == 2 {
			text = damaged(text, 4, len(text)/2, 3)
		}
		write(t, filepath.Join(bad, filepath.Base(p)), text)
	}
	ends(t, exit.Data, "part-002.parquet", "apply", bad, "--selection", sel, "-o", out)
	wantObjects(t, s)

	// What was uploaded cannot be deleted: the error says what is left, and how to go on.
	proxy.OnRequest(func(r *http.Request) *http.Response {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "part-002") || r.Method == http.MethodDelete {
			return storetest.NewAnswer(http.StatusForbidden, denied)
		}
		return nil
	})
	ends(t, exit.Fault, "could not be deleted: s3://lake/out/part-000.parquet", "apply", in, "--selection", sel, "-o", out)
	wantObjects(t, s, "out/_ufs_finished", "out/part-000.parquet", "out/part-001.parquet")
	proxy.OnRequest(nil)
	must(t, "apply", in, "--selection", sel, "-o", out)
	ends(t, exit.Fault, "the folder is not empty", "apply", in, "--selection", sel, "-o", out)

	// Ctrl-C amid the third file: those before it are kept, and the same command goes on.
	out = s.URLAt(proxy.URL, "again")
	ctx, cancel := context.WithCancel(t.Context())
	third(func(*http.Request) *http.Response {
		cancel()
		return storetest.NewAnswer(http.StatusServiceUnavailable, "") // else it may end well in the same moment
	})
	r = invokeWith(ctx, nil, "apply", in, "--selection", sel, "-o", out)
	if r.code != exit.Interrupted || !strings.HasPrefix(r.err, "ufs-stream: interrupted\nprogress is saved in s3://lake/again/?") || !strings.Contains(r.err, "continue with:\n") {
		t.Errorf("interrupted: exit code %d: %s", r.code, r.err)
	}
	tells(t, s, r)
	proxy.OnRequest(nil)
	r = invoke("apply", in, "--selection", sel, "-o", out)
	if r.code != exit.Done || r.err != "continued an interrupted run that had finished 2 of 5 files\n" {
		t.Errorf("gone on with: exit code %d: %s", r.code, r.err)
	}
	for _, p := range paths {
		sameFile(t, filepath.Join(s.Dir, "again", filepath.Base(p)), filepath.Join(s.Dir, "out", filepath.Base(p)))
	}
}
