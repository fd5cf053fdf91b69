package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
)

// TestBusyStore: whichever verb meets a store that stays busy, for whatever it reads or
// writes, ends with the code that tells a scheduler to try again, and leaves nothing. The
// patience of the requests is the program's own, half a minute: all verbs wait at once, in
// processes of their own, while other tests run.
func TestBusyStore(t *testing.T) {
	s, environ := storetest.S3Apart(t)
	in, paths := plant(t, 600, 3)
	at, temp := folder(t), t.TempDir()
	must(t, "select", in, "-k", "4", "-o", at("sel.json"))
	must(t, "scan", in, "-o", at("all.ufs"))
	for _, p := range paths {
		upload(t, s, p, "in/"+filepath.Base(p))
	}
	upload(t, s, at("sel.json"), "sel.json")
	must(t, "plan", in, "-o", at("job.plan.json"))
	for _, shard := range []string{"1/2", "2/2"} {
		must(t, "scan", "--plan", at("job.plan.json"), "--shard", shard, "-o", at("parts")+"/")
	}
	upload(t, s, at("job.plan.json"), "job.plan.json")
	upload(t, s, at("parts/part-00001-of-00002.ufs"), "parts/part-00001-of-00002.ufs")
	upload(t, s, at("parts/part-00002-of-00002.ufs"), "parts/part-00002-of-00002.ufs")
	noisy(t, at("wide.parquet"))
	upload(t, s, at("wide.parquet"), "wide/a.parquet")
	upload(t, s, at("wide.parquet"), "wide/b.parquet")
	upload(t, s, at("all.ufs"), "all.ufs")
	// Each proxy is a store that is busy for other requests.
	busyFor := func(when func(*http.Request) bool) string {
		p := storetest.NewProxy(t, s.Endpoint)
		p.OnRequest(func(r *http.Request) *http.Response {
			if when(r) {
				return storetest.NewAnswer(http.StatusServiceUnavailable, "")
			}
			return nil
		})
		return p.URL
	}
	always := busyFor(func(*http.Request) bool { return true })
	data := busyFor(func(r *http.Request) bool {
		return strings.Contains(r.URL.Path, "part-002") && r.Method == http.MethodGet
	})
	midway := busyFor(func(r *http.Request) bool { // behind the footers
		from, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-")
		return strings.Contains(r.URL.Path, "wide/b") && r.Method == http.MethodGet && len(from) < 5
	})
	part2 := busyFor(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "part-00002") })
	lists := busyFor(func(r *http.Request) bool { return r.URL.Query().Has("list-type") })
	writes := busyFor(func(r *http.Request) bool { return r.Method == http.MethodPut })
	refused := "http://127.0.0.1:1"
	kept := objects(t, s)

	type running struct {
		args []string
		cmd  *exec.Cmd
		said *strings.Builder
	}
	var all []running
	for _, args := range [][]string{
		{"inspect", s.URLAt(always, "in/part-000.parquet")},
		{"plan", s.URLAt(lists, "in/")},
		{"select", s.URLAt(data, "in/"), "-k", "3", "-o", at("never.json")},
		{"select", s.URLAt(data, "in/*.parquet"), "-k", "3", "-o", at("never.json"), "--on-error", "skip-file"},
		{"select", s.URLAt(midway, "wide/"), "-k", "3", "-o", at("never.json"), "--on-error", "skip-file"},
		{"scan", s.URLAt(midway, "wide/"), "-o", at("never.ufs"), "--missing", "mean"},
		{"select", "--stats", s.URLAt(always, "all.ufs"), "-k", "3", "-o", at("never.json")},
		{"select", "--stats", s.URLAt(refused, "all.ufs"), "-k", "3", "-o", at("never.json")},
		{"select", in, "-k", "3", "-o", s.URLAt(writes, "never.json")},
		{"scan", "--plan", s.URLAt(always, "job.plan.json"), "--shard", "1/2", "-o", at("never.ufs")},
		{"scan", "--plan", at("job.plan.json"), "--shard", "1/2", "-o", s.URLAt(writes, "never/")},
		{"scan", "--plan", at("job.plan.json"), "--shard", "2/2", "-o", s.URLAt(part2, "parts/")}, // is it there already?
		{"plan", in, "-o", s.URLAt(writes, "never.plan.json")},
		{"merge", s.URLAt(part2, "parts/"), "-o", at("never.ufs")},
		{"merge", s.URLAt(lists, "parts/"), "-o", at("never.ufs")},
		{"merge", s.URLAt(lists, "*.ufs"), "-o", at("never.ufs")},
		{"merge", at("all.ufs"), "-o", s.URLAt(writes, "never.ufs")},
		{"scan", s.URLAt(data, "in/"), "-o", at("never.ufs"), "--checkpoint", at("state")},
		{"scan", in, "-o", s.URLAt(writes, "never.ufs")},
		{"apply", in, "--selection", s.URLAt(always, "sel.json"), "-o", at("never")},
		{"apply", s.URLAt(data, "in/"), "--selection", at("sel.json"), "-o", at("never")},
		{"apply", in, "--selection", at("sel.json"), "-o", s.URLAt(lists, "never/")},
		{"apply", in, "--selection", at("sel.json"), "-o", s.URLAt(writes, "never/")},
		{"check", "--selection", s.URLAt(always, "sel.json"), "--stats", at("all.ufs")},
		{"check", "--selection", at("sel.json"), "--stats", s.URLAt(always, "all.ufs")},
		{"diff", at("sel.json"), s.URLAt(always, "sel.json")},
		{"report", s.URLAt(always, "sel.json"), "-o", at("never.html")},
		{"tree", s.URLAt(data, "in/"), "--tree", "correlation", "-o", at("never.json")},
		{"path", s.URLAt(data, "in/"), "-k", "3", "-o", at("never.json")},
	} {
		r := running{args, ownProcess(t, append(slices.Clone(args), "--progress", "off")...), new(strings.Builder)}
		r.cmd.Env = append(slices.Clone(environ), asProgram+"=1", "TMPDIR="+temp)
		r.cmd.Stderr = r.said
		if err := r.cmd.Start(); err != nil {
			t.Fatalf("starting the program: %v", err)
		}
		t.Cleanup(func() { _ = r.cmd.Process.Kill() }) // where the test ends before it
		all = append(all, r)
	}

	t.Parallel() // waits until those tests have run that are not
	for _, r := range all {
		_ = r.cmd.Wait() // its code is looked at
		what := strings.Join(r.args, " ")
		if code := r.cmd.ProcessState.ExitCode(); code != exit.TryAgain || !strings.Contains(r.said.String(), "trying again later may help") {
			t.Errorf("%s: exit code %d\n%s", what, code, r.said)
		}
		tells(t, s, result{err: r.said.String()})
	}
	if left, err := filepath.Glob(at("never*")); err != nil || len(left) > 0 {
		t.Errorf("partial outputs: %q, %v", left, err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	wantObjects(t, s, kept...)
}

// TestPreemption: SIGTERM, which schedulers send to whom they take a machine from, ends the
// program with code 130 and nothing partial, also while it waits for a store that is busy:
// before a listing is sent again, amid a file and amid an upload.
func TestPreemption(t *testing.T) {
	s := storetest.S3(t)
	in, paths := plant(t, 600, 2)
	at, temp := folder(t), t.TempDir()
	noisy(t, at("wide.parquet"))
	for _, p := range paths {
		upload(t, s, p, "in/"+filepath.Base(p))
	}
	kept := objects(t, s)
	for what, c := range map[string]struct {
		args  []string
		holds func(*http.Request) bool // a request that the store is too busy for
	}{
		"listing": {[]string{"select", "", "in/", "-o", at("never.json")}, func(r *http.Request) bool { return r.URL.Query().Has("list-type") }},
		"reading": {[]string{"scan", "", "in/", "-o", at("never.ufs")}, func(r *http.Request) bool { return strings.Contains(r.URL.Path, "part-001") }},
		"upload":  {[]string{"scan", in, "-o", "", "never.ufs"}, func(r *http.Request) bool { return r.Method == http.MethodPut }},
		"upload in parts": {[]string{"scan", at("wide.parquet"), "-o", "", "never.ufs"}, func(r *http.Request) bool {
			return r.URL.Query().Get("partNumber") == "2"
		}},
	} {
		proxy := storetest.NewProxy(t, s.Endpoint)
		retried := make(chan struct{}, 100)
		proxy.OnRequest(func(r *http.Request) *http.Response {
			if !c.holds(r) {
				return nil
			}
			select {
			case retried <- struct{}{}:
			default:
			}
			return storetest.NewAnswer(http.StatusServiceUnavailable, "")
		})
		var args []string
		for i := 0; i < len(c.args); i++ {
			if c.args[i] == "" { // the key that follows, behind the proxy
				i++
				args = append(args, s.URLAt(proxy.URL, c.args[i]))
			} else {
				args = append(args, c.args[i])
			}
		}
		cmd := ownProcess(t, append(args, "--progress", "off")...)
		var said strings.Builder
		cmd.Env = append(cmd.Env, "TMPDIR="+temp)
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatalf("starting the program: %v", err)
		}
		for range 3 { // tries, so that it waits between two
			select {
			case <-retried:
			case <-time.After(time.Minute):
				t.Fatalf("%s: nothing is tried again: %s", what, said.String())
			}
		}
		begin := time.Now()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatalf("signalling the program: %v", err)
		}
		_ = cmd.Wait() // its code is looked at
		// A farewell to a store takes ten seconds at most; Slurm and Kubernetes give thirty.
		if took := time.Since(begin); took > 15*time.Second {
			t.Errorf("%s: ended %v after the signal", what, took)
		}
		if code := cmd.ProcessState.ExitCode(); code != exit.Interrupted || !strings.Contains(said.String(), "interrupted") {
			t.Errorf("%s: exit code %d: %s", what, code, said.String())
		}
		wantObjects(t, s, kept...)
	}
	for _, pattern := range []string{at("never*"), at(".*ufs-tmp"), filepath.Join(temp, "*")} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			t.Errorf("left behind: %q, %v", left, err)
		}
	}
}
