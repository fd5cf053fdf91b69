package main

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
)

// secretURLs are URLs that hold the secret, in all spellings, those that can be opened at this address.
func secretURLs(address string) []string {
	const s = plantedSecret
	return []string{
		"http://" + address + "/x.parquet?sig=" + s,
		"HTTPS://" + address + "/x.json?sp=r&sig=" + s,
		"https%3A%2F%2Fh%2Fx%3Fsig%3D" + s,
		"http://user:" + s + "@" + address + "/x.ufs",
		"abfss://box@acc.dfs.core.windows.net/x.ufs?sp=r&sig=" + s,
		"s3://b/k.json?endpoint=http://" + address + "&region=r&use_path_style=true&X-Amz-Signature=" + s,
		"s3://b/k.json?endpoint=http://" + address + "&use_path_style=true&anonymous=true&mine=" + s,
		"s3://AKIA:" + s + "@b/k.parquet",
		"gs://b/k?endpoint=http://u:" + s + "@" + address,
		"ftp://h/x.csv#" + s,
		`https:\/\/h\/x?sig=` + s,
		"delta://http://" + address + "/t?sig=" + s,
		"@http://" + address + "/list?sig=" + s,
		"mine=https://" + address + "/sel.json?sig=" + s,
		"file://u:" + s + "@h/x.parquet",
		"x.parquet&sig=" + s,
	}
}

// tellsSecret is the file in the folder that holds the secret, or none.
func tellsSecret(t *testing.T, folder string) (found string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.Contains(read(t, path), plantedSecret) {
			found = path
		}
		return nil
	})
	if err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	return found
}

// secretRuns are what is run of each verb besides what holds the secret: enough to come as far as reading it.
func secretRuns(t *testing.T, at func(string) string) map[string][]string {
	t.Helper()
	in := columnsFile(t, at("in.parquet"), []string{"a", "b", "c"}, []float64{1, 2, 4, 7, 5}, []float64{2, 1, 5, 3, 3}, []float64{1, 1, 3, 2, 9})
	sel, stats := at("sel.json"), at("all.ufs")
	must(t, "select", in, "-k", "2", "-o", sel)
	must(t, "scan", in, "-o", stats)
	return map[string][]string{
		"inspect": {in}, "plan": {in}, "scan": {in, "-o", at("out.ufs")}, "merge": {stats, "-o", at("out.ufs")}, "select": {in, "-k", "2"}, "path": {in, "-k", "2"},
		"apply": {in, "--selection", sel, "-o", at("out.parquet")}, "convert": {in, "-o", at("out.parquet")}, "eval": {in, "--selection", sel, "--runs", "1", "--resamples", "0"},
		"explain": {"a", "--selection", sel}, "redundancy": {in}, "matrix": {in, "-o", at("out.csv")}, "diff": {sel, sel}, "check": {"--selection", sel, "--stats", stats}, "tree": {in, "--tree", "correlation"},
		"report": {sel, "-o", at("out.html")}, "demo": nil, "completion": nil, "version": nil, "help": nil, "methods": nil, "man": nil,
	}
}

// TestNoFlagTellsSecrets: in the place of every argument, flag, variable and line of a configuration, of every verb, a URL
// with a secret leaves it in no message and no file.
func TestNoFlagTellsSecrets(t *testing.T) {
	storetest.IsolateEnvironment(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "not at "+r.URL.String(), http.StatusForbidden)
	}))
	defer server.Close()
	urls := secretURLs(strings.TrimPrefix(server.URL, "http://"))
	t.Chdir(t.TempDir())
	at := folder(t)
	base := secretRuns(t, at)
	count := 0
	tells := func(args ...string) {
		t.Helper()
		defer func() {
			if fault := recover(); fault != nil {
				t.Errorf("%q panics: %v", args, fault)
			}
		}()
		if count++; !long.TakesCase(count, 8) {
			return
		}
		if r := invoke(args...); strings.Contains(r.err, "internal fault") {
			t.Errorf("%q: exit code %d: %s", args, r.code, r.err)
		}
	}
	root := newRoot(&cli{out: program.NewWriter(nil, ""), errPage: screen.NewPage(nil)})
	for _, cmd := range root.Commands() {
		rest, known := base[cmd.Name()]
		if !known {
			t.Errorf("%s: no run of this verb is among those with secrets", cmd.Name())
		}
		for i, u := range urls {
			tells(cmd.Name(), u)
			tells(append([]string{cmd.Name(), u}, rest...)...)
			if i < 3 {
				tells(append([]string{cmd.Name(), "--" + u}, rest...)...)
			}
		}
		if len(rest) == 0 {
			continue
		}
		everyFlag(cmd, func(f *pflag.Flag) {
			some := urls
			if !slices.Contains(flagsOfPlaces, f.Name) {
				some = urls[1:2]
			} else if f.Name != "config" {
				write(t, "config.yaml", f.Name+": "+urls[1]+"\n")
				tells(append([]string{cmd.Name(), "--config", "config.yaml", "-v"}, rest...)...)
			}
			for _, u := range some {
				tells(append([]string{cmd.Name(), "--" + f.Name + "=" + u}, rest...)...)
			}
		})
	}
	t.Setenv("UFS_STREAM_TEMP_DIR", urls[1])
	tells("select", at("in.parquet"), "-k", "2", "-v")
	t.Setenv("UFS_STREAM_TEMP_DIR", "")
	for _, dir := range []string{".", at(".")} {
		_ = os.Remove(filepath.Join(dir, "config.yaml")) // is the user's own
		if file := tellsSecret(t, dir); file != "" {
			t.Errorf("%s holds the secret", file)
		}
	}
	if count < 1000 {
		t.Errorf("only %d runs: the flags of the verbs are not visited", count)
	}
}

// flagsOfPlaces are the flags whose values name places.
var flagsOfPlaces = []string{"temp-dir", "config", "stats", "plan", "selection", "checkpoint", "output", "groups", "costs", "anchors-file", "tree", "allow", "profile", "baseline", "details", "keep"}

// everyFlag visits the flags of a verb that take a value.
func everyFlag(cmd *cobra.Command, visit func(*pflag.Flag)) {
	for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal == "" {
				visit(f)
			}
		})
	}
}

// TestInterruptedTellsNoSecret: neither the command that goes on after an interruption nor the checkpoint has the query of
// an input's URL, and with the URL as before the run goes on.
func TestInterruptedTellsNoSecret(t *testing.T) {
	storetest.IsolateEnvironment(t)
	dir, _ := plant(t, 2400, 1)
	at := folder(t)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	args := []string{"select", server.URL + "/part-000.parquet?sig=" + plantedSecret, "-k", "3", "--method", "sfufs", "--anchors", "50", "--checkpoint", at("state"), "--checkpoint-every", "1ms", "-o", at("sel.json")}
	midway := false
	for n, done := int64(20), false; !done; n += 20 {
		r := invokeWith(newCountdown(n), nil, args...)
		if done = r.code == exit.Done; !done && r.code != exit.Interrupted {
			t.Fatalf("exit code %d: %s", r.code, r.err)
		}
		if strings.Contains(r.err, "continue with") {
			midway = true
			want := server.URL + "/part-000.parquet -k 3 --method sfufs --anchors 50 --checkpoint " + at("state")
			if !strings.Contains(r.err, want) || !strings.Contains(r.err, "shown without possible secrets") {
				t.Errorf("%s\nwant %s, and that it is shown without possible secrets", r.err, want)
			}
		}
		if file := tellsSecret(t, at(".")); file != "" {
			t.Fatalf("%s holds the secret", file)
		}
	}
	if !midway {
		t.Error("no run was interrupted in the middle")
	}
}
