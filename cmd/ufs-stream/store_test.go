package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
)

// objects lists the keys in the bucket; parts of unfinished uploads lie there too, hidden.
func objects(t *testing.T, s *storetest.Server) (keys []string) {
	t.Helper()
	err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			key, err := filepath.Rel(s.Dir, path)
			keys = append(keys, filepath.ToSlash(key))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatalf("storing the objects: %v", err)
	}
	return keys
}

// wantObjects checks what is in the bucket, in order.
func wantObjects(t *testing.T, s *storetest.Server, want ...string) {
	t.Helper()
	if got := objects(t, s); !slices.Equal(got, want) {
		t.Errorf("the bucket has %q, want %q", got, want)
	}
}

// upload puts a local file into the bucket.
func upload(t *testing.T, s *storetest.Server, path, key string) string {
	t.Helper()
	place := filepath.Join(s.Dir, filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		t.Fatalf("making a folder: %v", err)
	}
	write(t, place, read(t, path))
	return s.URL(key)
}

// tells checks that a run says nothing that is secret.
func tells(t *testing.T, s *storetest.Server, r result) {
	t.Helper()
	for _, secret := range s.Secrets {
		if strings.Contains(r.out+r.err, secret) {
			t.Errorf("a secret is in:\n%s%s", r.out, r.err)
		}
	}
}

// TestEveryVerbWritesToAStore: -o with the URL of an object writes what -o with a path does,
// and the format comes from the ending of the key.
func TestEveryVerbWritesToAStore(t *testing.T) {
	s := storetest.S3(t)
	in, paths := plant(t, 400, 2)
	dir := t.TempDir()
	sel := filepath.Join(dir, "sel.json")
	must(t, "select", in, "-k", "5", "-o", sel)
	for _, c := range []struct {
		key  string
		args []string
		same bool // to the byte; else times differ
	}{
		{"sel.csv", []string{"select", in, "-k", "5"}, true},
		{"sel.parquet", []string{"select", in, "-k", "5"}, true},
		{"deep/down/sel.json", []string{"select", in, "-k", "5"}, false},
		{"a name with ünïcode & marks?.csv", []string{"select", in, "-k", "5"}, true},
		{"curve.csv", []string{"path", in, "-k", "5"}, true},
		{"eval.csv", []string{"eval", in, "--selection", sel, "--resamples", "2"}, true},
		{"seen.json", []string{"inspect", in}, true},
		{"plan.json", []string{"plan", in}, true},
		{"page.html", []string{"report", sel}, true},
		{"all.ufs", []string{"scan", in}, true},
		{"profile.ufs", []string{"scan", in, "--profile-only"}, true},
		{"tree.json", []string{"tree", in, "--tree", "correlation"}, true},
		{"small.parquet", []string{"apply", paths[0], "--selection", sel}, true},
	} {
		t.Run(c.key, func(t *testing.T) {
			local := filepath.Join(dir, filepath.Base(c.key))
			must(t, append(slices.Clone(c.args), "-o", local)...)
			must(t, append(slices.Clone(c.args), "-o", s.URL(c.key))...)
			got, want := read(t, filepath.Join(s.Dir, filepath.FromSlash(c.key))), read(t, local)
			if c.same && got != want || len(got) < len(want)/2 {
				t.Errorf("the object and the file differ:\n%.500s\n%.500s", got, want)
			}
		})
	}
	must(t, "merge", s.URL("all.ufs"), "-o", s.URL("merged.ufs"))
	must(t, "report", sel, "--svg", s.URL("charts"), "-o", "file://"+filepath.Join(dir, "page.html"))
	if keys := objects(t, s); !slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, "charts/") && strings.HasSuffix(k, ".svg") }) {
		t.Errorf("no chart in %q", keys)
	}
}

// TestMergeAndSelectFromAStore: parts in a bucket are merged into the bucket, by a glob; what
// is selected from that is what one local scan gives, and is applied from there.
func TestMergeAndSelectFromAStore(t *testing.T) {
	s := storetest.S3(t)
	in, _ := plant(t, 1000, 5)
	at := folder(t)
	must(t, "scan", in, "-o", at("whole.ufs"))
	for _, i := range strings.Split("1 2 3 4 5", " ") {
		must(t, "scan", in, "--shard", i+"/5", "-o", s.URL("parts/"+i+".ufs"))
		must(t, "scan", in, "--shard", i+"/5", "-o", at("part"+i+".ufs"))
	}
	upload(t, s, at("whole.ufs"), "parts/_unfinished.ufs")
	r := invoke("merge", "-v", s.URL("parts/*.ufs"), "-o", s.URL("all.ufs"))
	if r.code != exit.Done || !strings.Contains(r.err, "fetched ") {
		t.Fatalf("exit code %d\n%s", r.code, r.err)
	}
	tells(t, s, r)
	must(t, "merge", at("part[1-5].ufs"), "-o", at("all.ufs"))
	if read(t, at("all.ufs")) != read(t, filepath.Join(s.Dir, "all.ufs")) {
		t.Error("merged in the store and merged here differ")
	}
	here := selection(t, "--stats", at("all.ufs"), "-k", "7")
	there := selection(t, "--stats", s.URL("all.ufs"), "-k", "7")
	if there.Transfer == nil || there.Transfer.Fetched < int64(len(read(t, at("all.ufs")))) || there.Transfer.Requests > 3 || here.Transfer != nil {
		t.Errorf("transfers: there %+v, here %+v", there.Transfer, here.Transfer)
	}
	there.Transfer = nil
	if x, y := answer(t, here), answer(t, there); x != y {
		t.Errorf("selected here %s\nthere %s", x, y)
	}
	must(t, "select", "--stats", s.URL("all.ufs"), "-k", "7", "-o", s.URL("sel.json"))
	must(t, "apply", in, "--selection", s.URL("sel.json"), "-o", at("small"))
	if out := must(t, "inspect", at("small")); !strings.Contains(out, "7 of 7 columns") {
		t.Errorf("the applied selection has other columns:\n%s", out)
	}
	ends(t, exit.Data, "no object matches", "merge", s.URL("none/*.ufs"), "-o", at("x.ufs"))
	ends(t, exit.Data, "no file matches", "merge", at("none*.ufs"), "-o", at("x.ufs"))
	ends(t, exit.Usage, "is a statistics file", "select", s.URL("all.ufs"))
	if out := must(t, "inspect", s.URL("all.ufs")); !strings.Contains(out, "gram statistics") {
		t.Errorf("inspect said:\n%s", out)
	}
	upload(t, s, at("all.ufs"), "stats.bin")
	if out := must(t, "inspect", s.URL("stats.bin")); !strings.Contains(out, "gram statistics") {
		t.Errorf("inspect of another name said:\n%s", out)
	}
}

// TestApplyInAStore: an input in a bucket is reduced into the bucket, with its layout.
func TestApplyInAStore(t *testing.T) {
	s := storetest.S3(t)
	_, paths := plant(t, 600, 3)
	at := folder(t)
	for i, key := range []string{"in/year=2024/a.parquet", "in/year=2024/b.parquet", "in/year=2025/a.parquet"} {
		upload(t, s, paths[i], key)
	}
	must(t, "select", s.URL("in/"), "--method", "greedy", "-k", "4", "-o", at("sel.json"))
	sel := readSelection(t, at("sel.json"))
	if sel.Transfer == nil || !strings.HasPrefix(sel.Inputs[0].Path, "s3://lake/in/year=2024/a.parquet") {
		t.Errorf("recorded: %+v, %+v", sel.Inputs[0], sel.Transfer)
	}
	for _, out := range []string{s.URL("out"), s.URL("out2/"), at("out")} {
		must(t, "apply", s.URL("in/"), "--selection", at("sel.json"), "-o", out)
	}
	var got []string
	for _, k := range objects(t, s) {
		if !strings.HasPrefix(k, "in/") {
			got = append(got, k)
		}
	}
	var want []string
	for _, out := range []string{"out", "out2"} {
		want = append(want, out+"/_SUCCESS", out+"/year=2024/a.parquet", out+"/year=2024/b.parquet", out+"/year=2025/a.parquet")
	}
	if !slices.Equal(got, want) {
		t.Errorf("in the bucket is %q, want %q", got, want)
	}
	for _, file := range []string{"year=2024/a.parquet", "year=2024/b.parquet", "year=2025/a.parquet"} {
		if read(t, filepath.Join(s.Dir, "out", file)) != read(t, filepath.Join(at("out"), file)) {
			t.Errorf("%s differs between the store and the disk", file)
		}
	}
	again := selection(t, s.URL("out"), "--method", "greedy", "-k", "4") // _SUCCESS is no data file
	if a, b := slices.Sorted(slices.Values(names(again))), slices.Sorted(slices.Values(names(sel))); !slices.Equal(a, b) {
		t.Errorf("from the reduced data %q, from the whole %q", names(again), names(sel))
	}
	ends(t, exit.Fault, "the folder is not empty", "apply", s.URL("in/"), "--selection", at("sel.json"), "-o", s.URL("out"))
	ends(t, exit.Usage, "would replace the input", "apply", s.URL("in/year=2025/a.parquet"), "--selection", at("sel.json"), "-o", s.URL("in/year=2025/a.parquet"))
	ends(t, exit.Usage, "would replace the input", "select", s.URL("in/"), "--format", "csv", "-o", s.URL("in/year=2025/a.parquet"))
}

// TestTransferIsShown: what was fetched is in the results, in the table and in the progress.
func TestTransferIsShown(t *testing.T) {
	s := storetest.S3(t)
	_, paths := plant(t, 400, 1)
	in := upload(t, s, paths[0], "in.parquet")
	at := folder(t)
	r := invoke("select", in, "-k", "3", "--progress", "json")
	if r.code != exit.Done || !strings.Contains(r.out, "\nfetched ") || !strings.Contains(r.err, `"fetched_bytes":`) {
		t.Errorf("exit code %d\n%s%s", r.code, r.out, r.err)
	}
	must(t, "select", in, "-k", "3", "-o", at("sel.json"))
	must(t, "path", in, "-k", "3", "-o", at("curve.json"))
	must(t, "eval", in, "--selection", at("sel.json"), "--resamples", "2", "-o", at("eval.json"))
	page := must(t, "report", at("sel.json"), at("curve.json"), at("eval.json"))
	for _, file := range []string{"sel.json", "curve.json", "eval.json"} {
		if text := read(t, at(file)); !strings.Contains(text, `"transfer": {`) {
			t.Errorf("%s has no transfer:\n%s", file, text)
		}
	}
	if n := strings.Count(page, "Fetched"); n != 3 {
		t.Errorf("the page tells %d times what was fetched, not 3", n)
	}
	local := must(t, "select", paths[0], "-k", "3", "--format", "json")
	if strings.Contains(local, "transfer") {
		t.Error("a local run records a transfer")
	}
}

// TestEveryStoreTakesOutputs: statistics, a selection and a folder go to every kind of store
// and come back.
func TestEveryStoreTakesOutputs(t *testing.T) {
	in, _ := plant(t, 400, 2)
	at := folder(t)
	must(t, "scan", in, "-o", at("all.ufs"))
	here := selection(t, "--stats", at("all.ufs"), "-k", "4")
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		must(t, "scan", in, "--shard", "1/2", "-o", s.URL("parts/1.ufs"))
		must(t, "scan", in, "--shard", "2/2", "-o", s.URL("parts/2.ufs"))
		must(t, "merge", s.URL("parts/*.ufs"), "-o", s.URL("all.ufs"))
		must(t, "select", "--stats", s.URL("all.ufs"), "-k", "4", "-o", s.URL("sel.json"))
		must(t, "apply", in, "--selection", s.URL("sel.json"), "-o", s.URL("small/"))
		again := selection(t, s.URL("small/"), "-k", "4")
		a, b := slices.Sorted(slices.Values(names(again))), slices.Sorted(slices.Values(names(here)))
		if !slices.Equal(a, b) {
			t.Errorf("from the store %q, from here %q", a, b)
		}
		ends(t, exit.Fault, "the folder is not empty", "apply", in, "--selection", s.URL("sel.json"), "-o", s.URL("small"))
		r := invoke("select", in, "-k", "4", "-o", strings.Replace(s.URL("x.json"), s.Bucket, "absent", 1))
		if r.code != exit.Fault {
			t.Errorf("no bucket: exit code %d: %s", r.code, r.err)
		}
		tells(t, s, r)
	})
}
