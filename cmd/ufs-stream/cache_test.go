package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	mustbe "github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// settleFiles sets the time of change of files to one of the past, plus some minutes, so that it counts as their version.
func settleFiles(t *testing.T, minutes int, paths ...string) {
	t.Helper()
	at := time.Unix(1_700_000_000, 0).Add(time.Duration(minutes) * time.Minute)
	for _, path := range paths {
		mustbe.Do(t, os.Chtimes(path, at, at))
	}
}

// cacheFiles lists the names in a folder, which may not exist.
func cacheFiles(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil && !os.IsNotExist(err) {
		t.Fatalf("reading the folder of the cache: %v", err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// answerOnly is a JSON result without the members that depend on how the data was read.
func answerOnly(t *testing.T, text string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("decoding the result: %v\n%s", err, text)
	}
	for _, member := range []string{"timing", "memory", "passes", "transfer", "missing"} {
		delete(v, member)
		if data, ok := v["correlations"].(map[string]any); ok {
			delete(data, member)
		}
	}
	return marshal(t, v)
}

const (
	cacheMade = "with which later questions on these files read no row"
	cacheUsed = "has the statistics of these files, so no row is read"
)

// TestCacheAnswers: with a cache every question has the answer that it has without one, from rows and then from
// statistics; the statistics of the Gram matrix serve all its methods.
func TestCacheAnswers(t *testing.T) {
	in, files := plantHoled(t, 600, 2)
	at := folder(t)
	text := write(t, at("t.csv"), "when,name,a,b,c\n"+strings.Repeat("2026-01-01,x,1,2,4\n2026-01-02,y,2,,9\n2026-01-03,x,5,7,1\n2026-01-04,z,1,4,2\n", 30))
	settleFiles(t, 0, append(files, text)...)
	sel := at("sel.json")
	must(t, "select", in, "-k", "3", "--method", "greedy", "-o", sel)
	for i, c := range []struct {
		args string
		says string // of the first question
	}{
		{"select " + in, cacheMade},
		{"select -k 4 --method greedy " + in, cacheUsed},
		{"select --method greedy --missing zero --min-gain 0.01 " + in, cacheMade},
		{"select -k 4 --method partgreedy --scale unit " + in, cacheUsed},
		{"select -k 3 --method variance " + in, cacheMade},
		{"select -k 5 --method random " + in, cacheUsed},
		{"select -k 3 --method greedy --auto-exclude --explain-columns x00* " + in, cacheUsed},
		{"path -k 5 --method greedy " + in, cacheUsed},
		{"redundancy --threshold 0.3 " + in, cacheUsed},
		{"explain x001 x004 --selection " + sel + " " + in, cacheUsed},
		{"path -k 3 --method sfufs --anchors 60 --alpha 0.1,1 " + in, cacheMade},
		{"select -k 3 --method sfufs --anchors 60 --gamma 0.5 " + in, cacheUsed},
		{"select -k 3 --method sfufs --anchors 50 " + in, cacheMade},
		{"select -k 3 --scale rank --method greedy " + in, cacheMade},
		{"select -k 3 --method greedy --where x001>0 --exclude x00* " + in, cacheMade},
		{"select -k 3 --method greedy --rows 200 " + in, cacheMade},
		{"select -k 3 --method greedy --stability=4 " + in, cacheMade},
		{"select -k 3 --times --categorical auto --missing-indicators --null-values 9 " + text, cacheMade},
	} {
		args := append(strings.Fields(c.args), "--format", "json")
		want := answerOnly(t, must(t, args...))
		args = append(args, "--cache", at("cache"))
		before := len(cacheFiles(t, at("cache")))
		for turn, says := range []string{c.says, cacheUsed} {
			r := invoke(args...)
			if r.code != exit.Done || !strings.Contains(r.err, says) {
				t.Errorf("case %d, %s: exit code %d at turn %d, want %q:\n%s", i, c.args, r.code, turn, says, r.err)
				break
			}
			if got := answerOnly(t, r.out); got != want {
				t.Errorf("case %d, %s: turn %d answers\n%s\nwant\n%s", i, c.args, turn, got, want)
			}
		}
		if made := len(cacheFiles(t, at("cache"))) - before; made != strings.Count(c.says, cacheMade) {
			t.Errorf("case %d, %s: %d files were made", i, c.args, made)
		}
	}
}

// TestCacheReadsNoRow: the second question on files in a store lists them, and fetches no byte of them; of local files,
// not even a change of the contents is seen if size and time are the same.
func TestCacheReadsNoRow(t *testing.T) {
	s := storetest.S3(t)
	_, files := plant(t, 600, 3)
	for _, f := range files {
		upload(t, s, f, "in/"+filepath.Base(f))
	}
	p := storetest.NewProxy(t, s.Endpoint)
	var ofData, all atomic.Int64
	p.OnRequest(func(r *http.Request) *http.Response {
		all.Add(1)
		if strings.Contains(r.URL.Path, ".parquet") {
			ofData.Add(1)
		}
		return nil
	})
	at := folder(t)
	for _, cache := range []string{at("cache"), s.URLAt(p.URL, "cache/")} {
		var requests [2]int64
		var answers [2]string
		for turn := range requests {
			ofData.Store(0)
			answers[turn] = answerOnly(t, must(t, "select", s.URLAt(p.URL, "in/"), "-k", "4", "--format", "json", "--cache", cache))
			requests[turn] = ofData.Load()
		}
		if requests[0] == 0 || requests[1] != 0 || answers[0] != answers[1] {
			t.Errorf("%s: %d requests for data at first, then %d, want some and then none", cache, requests[0], requests[1])
		}
	}
	settleFiles(t, 0, files[0])
	first := must(t, "select", files[0], "-k", "4", "--format", "names", "--cache", at("cache"))
	write(t, files[0], strings.Repeat("x", len(read(t, files[0]))))
	settleFiles(t, 0, files[0])
	r := invoke("select", files[0], "-k", "4", "--format", "names", "--cache", at("cache"))
	if !strings.Contains(r.err, cacheUsed) || r.out != first {
		t.Errorf("the second question has the answer %q, want %q:\n%s", r.out, first, r.err)
	}
}

// TestCacheFollowsTheFiles: after any change of the files the answer is the one of the new files, and their old
// statistics are removed, but none of another question or of another program.
func TestCacheFollowsTheFiles(t *testing.T) {
	in, files := plant(t, 600, 2)
	_, others := plantHoled(t, 900, 2)
	at := folder(t)
	settleFiles(t, 0, files...)
	mustbe.Do(t, os.Mkdir(at("cache"), 0o777))
	write(t, at("cache/"+filepath.Base(in)+".mine.ufs"), "of another program")
	ask := func(says string) {
		t.Helper()
		want := must(t, "select", in, "-k", "4", "--method", "greedy", "--format", "csv")
		if r := invoke("select", in, "-k", "4", "--method", "greedy", "--format", "csv", "--cache", at("cache")); r.out != want || !strings.Contains(r.err, says) {
			t.Errorf("the answer is\n%s\nwant\n%s\nand %q:\n%s", r.out, want, says, r.err)
		}
	}
	ask(cacheMade)
	must(t, "select", in, "-k", "4", "--method", "greedy", "--exclude", "x001", "--cache", at("cache"))
	ask(cacheUsed)
	for step, change := range []func(){
		func() { settleFiles(t, 1, files[1]) }, // perhaps with other contents of the same size
		func() { write(t, files[0], read(t, others[0])); settleFiles(t, 0, files[0]) },
		func() { settleFiles(t, 0, write(t, filepath.Join(in, "part-002.parquet"), read(t, others[1]))) },
		func() { mustbe.Do(t, os.Remove(files[1])) },
	} {
		change()
		ask("is removed, because the files changed")
		ask(cacheUsed)
		if names := cacheFiles(t, at("cache")); len(names) != 3 {
			t.Errorf("after change %d the cache has %v, want a file for each question and the foreign one", step, names)
		}
	}
	settleFiles(t, 0, files[0])
	mustbe.Do(t, os.Chtimes(files[0], time.Now(), time.Now()))
	ask("a file changed less than 2s ago")
}

// TestCacheIsMadeAgain: statistics that are damaged are made again, wherever the damage is, and an interruption leaves
// none.
func TestCacheIsMadeAgain(t *testing.T) {
	in, files := plant(t, 600, 2)
	at := folder(t)
	settleFiles(t, 0, files...)
	args := []string{"select", in, "-k", "4", "--method", "greedy", "--format", "csv", "--cache", at("cache")}
	for n := int64(3); ; n += 7 {
		mustbe.Do(t, os.RemoveAll(at("cache")))
		r := invokeWith(newCountdown(n), nil, args...)
		if names := cacheFiles(t, at("cache")); r.code == exit.Interrupted && len(names) > 0 && !strings.Contains(r.err, cacheMade) {
			t.Fatalf("an interruption left %v", names)
		}
		if r.code == exit.Done {
			break
		}
	}
	want := must(t, args...)
	name := filepath.Join(at("cache"), cacheFiles(t, at("cache"))[0])
	whole := read(t, name)
	for _, text := range []string{"", "no statistics", whole[:len(whole)/2], whole[:len(whole)-1], damaged(whole, 40, 41, 1), damaged(whole, len(whole)/2, len(whole)/2+1, 1), damaged(whole, len(whole)-9, len(whole)-8, 1)} {
		write(t, name, text)
		if r := invoke(args...); r.out != want || !strings.Contains(r.err, name+" is made again: ") || !strings.Contains(r.err, cacheMade) {
			t.Errorf("with %d of %d bytes the answer is\n%s\nwant\n%s\n%s", len(text), len(whole), r.out, want, r.err)
		}
		if read(t, name) != whole {
			t.Errorf("with %d bytes, the statistics made again differ", len(text))
		}
	}
}

// TestCacheOfManyRuns: runs at once have the same answer, and leave one whole file.
func TestCacheOfManyRuns(t *testing.T) {
	in, files := plant(t, 5000, 2)
	at := folder(t)
	settleFiles(t, 0, files...)
	want := must(t, "select", in, "-k", "4", "--format", "csv")
	var outputs [4]strings.Builder
	var running [4]*exec.Cmd
	for i := range running {
		running[i] = ownProcess(t, "select", in, "-k", "4", "--format", "csv", "--cache", at("cache"))
		running[i].Stdout = &outputs[i]
		mustbe.Do(t, running[i].Start())
	}
	for i := range running {
		if err := running[i].Wait(); err != nil || outputs[i].String() != want {
			t.Errorf("run %d of 4: %v, and the answer is\n%s\nwant\n%s", i, err, outputs[i].String(), want)
		}
	}
	if names := cacheFiles(t, at("cache")); len(names) != 1 {
		t.Errorf("the cache has %v, want one file", names)
	}
	if r := invoke("select", in, "-k", "4", "--format", "csv", "--cache", at("cache")); r.out != want || !strings.Contains(r.err, cacheUsed) {
		t.Errorf("afterwards the answer is\n%s\nwant\n%s\n%s", r.out, want, r.err)
	}
}

// TestCacheIsNotUsed: what statistics cannot answer is answered from the rows, with the reason; beside writes a hidden
// file next to the input, and no run without the option writes one.
func TestCacheIsNotUsed(t *testing.T) {
	in, files := plant(t, 300, 1)
	at := folder(t)
	settleFiles(t, 0, files...)
	must(t, "plan", in, "-o", at("job.plan.json"))
	for _, c := range []struct{ args, says string }{
		{"select -k 3 --method eufs --max-iter 2 " + in, "method eufs iterates over the rows"},
		{"select -k 3 --method greedy --sketch 64 " + in, "a --sketch needs the rows again"},
		{"select -k 3 --method greedy --on-error skip-file " + in, "--on-error skip-file"},
		{"select -k 3 --method sfufs --auto-exclude " + in, "--auto-exclude and --max-missing"},
		{"select -k 3 --method greedy --plan " + at("job.plan.json"), "a --plan names the files"},
	} {
		args := append(strings.Fields(c.args), "--format", "names")
		want := must(t, args...)
		if r := invoke(append(args, "--cache", at("cache"))...); r.out != want || !strings.Contains(r.err, "--cache is not used: "+c.says) {
			t.Errorf("%s: the answer is %q, want %q and %q:\n%s", c.args, r.out, want, c.says, r.err)
		}
	}
	if r := invokeWith(t.Context(), []byte("a,b\n1,2\n3,1\n2,2\n"), "select", "-", "--cache", at("cache")); r.code != exit.Done || !strings.Contains(r.err, "--cache is not used: standard input") {
		t.Errorf("of standard input: exit code %d\n%s", r.code, r.err)
	}
	ends(t, exit.Usage, "-k 400 is more than", "select", in, "-k", "400", "--cache", at("cache"))
	ends(t, exit.Fault, "choose another --cache", "select", in, "-k", "4", "--cache", write(t, at("file"), ""))
	must(t, "select", in, "-k", "3")
	before := cacheFiles(t, in)
	for _, input := range []string{in + "/*.parquet", files[0]} {
		for range 2 {
			must(t, "select", input, "-k", "3", "--cache", "beside")
		}
	}
	if after := cacheFiles(t, in); len(after) != len(before)+2 || !strings.HasPrefix(after[0], ".") {
		t.Errorf("beside the input are %v, want two hidden files more than %v", after, before)
	}
	if r := invoke("select", in, "-k", "3"); r.code != exit.Done {
		t.Errorf("the hidden files are taken for input: %s", r.err)
	}
}
