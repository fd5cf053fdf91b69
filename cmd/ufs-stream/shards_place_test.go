package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
)

// TestSmallestLimitOfAShard: the limit that plan names is enough for any shard, and less is
// refused with a number that is.
func TestSmallestLimitOfAShard(t *testing.T) {
	in, _ := plant(t, 900, 3)
	path := filepath.Join(t.TempDir(), "job.plan.json")
	r := invoke("plan", in, "-o", path)
	var limit int
	_, after, ok := strings.Cut(r.err, "--memory-limit ")
	if _, err := fmt.Sscanf(after, "%dMiB", &limit); !ok || err != nil {
		t.Fatalf("plan said %s", r.err)
	}
	for i := 1; i <= 3; i++ {
		args := []string{"scan", "--plan", path, "--shard", fmt.Sprintf("%d/3", i), "-o", t.TempDir() + "/", "--memory-limit"}
		must(t, append(args, fmt.Sprintf("%dMiB", limit))...)
		args[6] = t.TempDir() + "/"
		ends(t, exit.Memory, fmt.Sprintf("%dMiB", limit), append(args, fmt.Sprintf("%dMiB", limit-1))...)
	}
}

// TestTwoAtOnce: two machines that scan one shard into one place, or make one plan, leave one
// whole file, and the same one.
func TestTwoAtOnce(t *testing.T) {
	in, _ := plant(t, 900, 3)
	dir := t.TempDir()
	var first string
	for range 3 {
		var running sync.WaitGroup
		for range 2 {
			running.Go(func() {
				if r := invoke("plan", in, "-o", dir+"/job.plan.json"); r.code != exit.Done {
					t.Errorf("plan: exit code %d: %s", r.code, r.err)
				}
			})
		}
		running.Wait()
		for range 3 {
			running.Go(func() {
				if r := invoke("scan", "--plan", dir+"/job.plan.json", "--shard", "2/3", "-o", dir+"/parts/"); r.code != exit.Done {
					t.Errorf("scan: exit code %d: %s", r.code, r.err)
				}
			})
		}
		running.Wait()
		got := read(t, dir+"/parts/part-00002-of-00003.ufs")
		if first == "" {
			first = got
		}
		if got != first {
			t.Error("the part is another one")
		}
		if files, _ := filepath.Glob(dir + "/parts/*"); len(files) != 1 {
			t.Errorf("files %v", files)
		}
		os.Remove(dir + "/parts/part-00002-of-00003.ufs")
	}
	// Parts of two plans in one folder do not get along.
	must(t, "scan", "--plan", dir+"/job.plan.json", "--shard", "1/2", "-o", dir+"/mixed/")
	must(t, "scan", "--plan", planOf(t, in, "--seed", "5"), "--shard", "2/2", "-o", dir+"/mixed/")
	if r := invoke("merge", dir+"/mixed/", "-o", dir+"/all.ufs"); r.code != exit.Usage || !strings.Contains(r.err, "parts of two plans") {
		t.Errorf("parts of two plans: exit code %d: %s", r.code, r.err)
	}
}

// TestMissingWithoutARound: a shard that meets a missing value says what has to be done first.
func TestMissingWithoutARound(t *testing.T) {
	holes, _ := plantHoled(t, 900, 3)
	for _, missing := range []string{"error", "drop-row"} {
		path := filepath.Join(t.TempDir(), "job.plan.json")
		r := invoke("plan", holes, "--missing", missing, "-o", path)
		if r.code != exit.Done || !strings.Contains(r.err, "a round of profiles comes first") {
			t.Errorf("plan: exit code %d: %s", r.code, r.err)
		}
		ends(t, exit.Usage, "scan --profile-only, merge", "scan", "--plan", path, "--shard", "1/3", "-o", t.TempDir()+"/")
	}
}

// TestGraphOfRowsThatAreLeft: what no round can settle is refused when the plan is made.
func TestGraphOfRowsThatAreLeft(t *testing.T) {
	holes, _ := plantHoled(t, 900, 3)
	args := []string{"plan", holes, "--method", "sfufs", "--missing", "drop-row", "-o", t.TempDir() + "/job.plan.json"}
	ends(t, exit.Usage, "plan with --missing mean or zero", args...)
	must(t, append(args, "--exclude", "x002")...)
}

// TestPlanAndPartsInAStore: input, plan, parts and profile lie in a store, and a part that is
// there is not scanned again.
func TestPlanAndPartsInAStore(t *testing.T) {
	s := storetest.S3(t)
	_, files := plantHoled(t, 900, 3)
	for i, f := range files {
		s.PutObject(fmt.Sprintf("lake/in/%d.parquet", i), []byte(read(t, f)))
	}
	plan, first, second := s.URL("lake/job.plan.json"), s.URL("lake/profiles/"), s.URL("lake/parts/")
	must(t, "plan", s.URL("lake/in/"), "--missing", "drop-row", "-o", plan)
	shards := func(to string, args ...string) {
		for _, shard := range []string{"3/3", "1/3", "2/3"} {
			must(t, append([]string{"scan", "--plan", plan, "--shard", shard, "-o", to}, args...)...)
		}
	}
	shards(first, "--profile-only")
	must(t, "merge", first, "-o", s.URL("lake/profile.ufs"))
	shards(second, "--profile", s.URL("lake/profile.ufs"))
	r := invoke("scan", "--plan", plan, "--shard", "3/3", "-o", second, "--profile", s.URL("lake/profile.ufs"))
	if r.code != exit.Done || !strings.Contains(r.err, "part-00003-of-00003.ufs") || !strings.Contains(r.err, "is there already: 300 rows") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	must(t, "merge", second, "-o", s.URL("lake/all.ufs"))
	got, want := selection(t, "--stats", s.URL("lake/all.ufs"), "-k", "6"), selection(t, filepath.Dir(files[0]), "--method", "greedy", "--missing", "drop-row", "-k", "6")
	if a, b := names(got), names(want); !slices.Equal(a, b) || got.RowsUsed != want.RowsUsed {
		t.Errorf("%v of %d rows, want %v of %d", a, got.RowsUsed, b, want.RowsUsed)
	}
	s.PutObject("lake/in/1.parquet", []byte(read(t, files[0])))
	ends(t, exit.Data, "changed since the plan", "scan", "--plan", plan, "--shard", "2/3", "--profile", s.URL("lake/profile.ufs"), "-o", t.TempDir())
}

// TestSignaturesInAPlanStayThere: a plan of signed URLs works, and nobody is shown what signs
// them.
func TestSignaturesInAPlanStayThere(t *testing.T) {
	_, files := plant(t, 300, 2)
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(files[0]))))
	defer server.Close()
	dir := t.TempDir()
	plan := dir + "/job.plan.json"
	var said []string
	tell := func(code int, args ...string) {
		r := invoke(args...)
		if said = append(said, r.out, r.err); r.code != code {
			t.Errorf("%v: exit code %d: %s", args, r.code, r.err)
		}
	}
	tell(exit.Done, "-v", "plan", server.URL+"/part-000.parquet?sig=hidden", server.URL+"/part-001.parquet?sig=hidden", "-o", plan)
	tell(exit.Data, "-v", "scan", "--plan", plan, "--shard", "1/2", "-o", dir) // a plan names no server by itself
	tell(exit.Done, "-v", "scan", "--plan", plan, "--shard", "1/2", "-o", dir, "--allow", server.URL)
	tell(exit.Done, "-v", "scan", "--plan", plan, "--shard", "1/2", "-o", dir, "--allow", server.URL)
	tell(exit.Done, "select", "--plan", plan, "-k", "3", "--format", "json", "--allow", server.URL)
	tell(exit.Done, "inspect", "--plan", plan, "-v", "--allow", server.URL)
	if err := os.WriteFile(files[1], []byte(read(t, files[0])), 0o666); err != nil {
		t.Fatalf("writing the part: %v", err)
	}
	tell(exit.Data, "scan", "--plan", plan, "--shard", "2/2", "-o", dir, "--allow", server.URL)
	damaged := strings.Replace(read(t, plan), "hidden", "hiddem", 1)
	tell(exit.Data, "scan", "--plan", write(t, dir+"/other.plan.json", damaged), "--shard", "2/2", "-o", dir)
	said = append(said, read(t, dir+"/part-00001-of-00002.ufs"))
	if text := strings.Join(said, ""); strings.Contains(text, "hidde") {
		t.Errorf("the signature is shown: %s", text)
	}
	if !strings.Contains(read(t, plan), "hidden") || runtime.GOOS != "windows" && stat(t, plan).Mode().Perm() != 0o600 {
		t.Errorf("mode %v", stat(t, plan).Mode())
	}
}
