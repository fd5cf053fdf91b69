package chunkio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// setSecrets gives the environment credentials of every store, and a profile whose program leaves a mark.
func setSecrets(t *testing.T, server *storetest.Recorder) (mark string) {
	t.Helper()
	storetest.IsolateEnvironment(t)
	dir := t.TempDir()
	mark = filepath.Join(dir, "ran")
	config := fmt.Sprintf("[profile prod]\ncredential_process = touch %s\n", mark)
	PutFile(t, dir, "config", []byte(config))
	PutFile(t, dir, "google.json", must.Get(json.Marshal(map[string]string{
		"type": "authorized_user", "client_id": "c", "client_secret": "PLANTED-SECRET-google", "refresh_token": "PLANTED-SECRET-refresh", "token_uri": server.URL + "/token",
	}))(t))
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": filepath.Join(dir, "config"), "AWS_ACCESS_KEY_ID": "AKIAPLANTED", "AWS_SECRET_ACCESS_KEY": "PLANTED-SECRET-aws", "AWS_SESSION_TOKEN": "PLANTED-SECRET-session",
		"GOOGLE_APPLICATION_CREDENTIALS": filepath.Join(dir, "google.json"),
		"AZURE_STORAGE_ACCOUNT":          "mine", "AZURE_STORAGE_KEY": "UExBTlRFRC1TRUNSRVQtYXp1cmU=",
	} {
		t.Setenv(name, value)
	}
	return mark
}

// hostileNames are names by which a file could send credentials to the server, run the program of a profile, or read
// files to which its reader has access and its author has not.
func hostileNames(server string) []string {
	return []string{
		"gs://b/p.parquet?endpoint=" + server, "azblob://c/p.parquet?endpoint=" + server, "azblob://c/p.parquet?storage_account=evil", "azblob://c/p.parquet?domain=" + strings.TrimPrefix(server, "http://") + "&protocol=http",
		"s3://b/p.parquet?endpoint=" + server, "s3://b/p.parquet?profile=prod&endpoint=" + server, "s3://b/p.parquet?profile=prod", "s3://b/p.parquet?anonymous=true&endpoint=" + server,
		server + "/p.parquet", "http://127.0.0.1/p.parquet", "http://169.254.169.254/latest/meta-data/x.parquet", "https://localhost/p.parquet", "s3://other/p.parquet",
		"file:///etc/hostname", "/etc/hostname", "file:///etc/%2e%2e/etc/hostname",
	}
}

// wantRefused checks that opening fails with an error that contains the file, the name in it, and the flag.
func wantRefused(t *testing.T, inputs []string, opt Options, by, name string) {
	t.Helper()
	ds, err := Open(t.Context(), inputs, opt)
	if err == nil {
		ds.Close()
	}
	var data *stream.DataError
	if !errors.As(err, &data) || !strings.Contains(data.Path, by) || !strings.Contains(data.Remedy.Spell(nil), "allow") {
		t.Errorf("%s names %s: %v; want a refusal that names both and the flag", by, name, err)
	}
}

// deltaNaming plants a Delta table that has one live file of that name.
func deltaNaming(t *testing.T, name string) (root string) {
	t.Helper()
	root = t.TempDir()
	path := must.Get(json.Marshal(name))(t)
	PutFile(t, root, "_delta_log/00000000000000000000.json", []byte(`{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"t","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{}}}
{"add":{"path":`+string(path)+`,"partitionValues":{},"size":100,"modificationTime":1,"dataChange":true}}
`))
	return root
}

// TestFilesNameNoServers: lists, logs of tables and plans neither send credentials anywhere, nor run the program of a
// profile, nor read files outside their own place.
func TestFilesNameNoServers(t *testing.T) {
	server := storetest.NewRecorder(t, nil)
	mark := setSecrets(t, server)
	for _, name := range hostileNames(server.URL) {
		dir := t.TempDir()
		for i, line := range []string{name, "delta://" + name} {
			list := filepath.Join(dir, fmt.Sprintf("%d.list", i))
			PutFile(t, dir, filepath.Base(list), []byte("# of a list\n"+line+"\n"))
			wantRefused(t, []string{"@" + list}, Options{}, list, line)
		}
		root := deltaNaming(t, name)
		wantRefused(t, []string{root}, Options{}, root, name)
		for _, roots := range [][]string{nil, {name}} { // the plan records the name as its root
			if roots != nil && !strings.Contains(name, "?") && !strings.HasPrefix(name, "http") {
				continue // local files and buckets are a plan's to choose
			}
			plan := filepath.Join(dir, "own.plan.json")
			f := must.Get(os.Create(plan))(t)
			must.Get(planfile.Write(f, planfile.Header{Count: 1, Roots: roots}, listOf([]planfile.File{{Path: name}})))(t)
			must.Do(t, f.Close())
			wantRefused(t, nil, Options{Plan: plan}, plan, name)
		}
	}
	server.WantSilence(t)
	if _, err := os.Stat(mark); err == nil {
		t.Error("the program of a profile ran")
	}
}

// TestListGoesUp: relative lines of a local list are as if they were typed, unless they go up to the root.
func TestListGoesUp(t *testing.T) {
	root := t.TempDir()
	PutFile(t, root, "a/x.parquet", parquetOf(t, 0, 100, 25, "a", "b"))
	PutFile(t, root, "p/w/up.list", []byte("../../a/x.parquet\n"))
	PutFile(t, root, "p/w/root.list", []byte(strings.Repeat("../", 30)+"etc/hostname\n"))
	PutFile(t, root, "p/w/there.list", []byte(filepath.Join(root, "a", "x.parquet")+"\n"))
	t.Chdir(filepath.Join(root, "p", "w"))
	ds, err := Open(t.Context(), []string{"@up.list"}, Options{})
	if err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	defer ds.Close()
	if ds.Rows() != 100 {
		t.Errorf("%d rows, want 100", ds.Rows())
	}
	wantRefused(t, []string{"@root.list"}, Options{}, "root.list", "/etc/hostname")
	wantRefused(t, []string{"@there.list"}, Options{}, "there.list", root)
}

// TestListInStore: a list on a server may name files there, by relative lines too, and no local file; its query opens
// no other file.
func TestListInStore(t *testing.T) {
	server := storetest.NewRecorder(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/jobs/list.txt":
			fmt.Fprint(w, "x.csv\n../lake/y.csv?sig=2\n")
		case "/jobs/evil.txt":
			fmt.Fprint(w, "/etc/hostname\n")
		case "/jobs/x.csv", "/lake/y.csv":
			if sig := r.URL.Query().Get("sig"); sig == "1" {
				http.Error(w, "signed for another file", http.StatusForbidden)
				return
			}
			http.ServeContent(w, r, "x.csv", time.Time{}, strings.NewReader("a,b\n1.5,2.5\n3.5,4.5\n"))
		default:
			http.NotFound(w, r)
		}
	}))
	ds, err := Open(context.Background(), []string{"@" + server.URL + "/jobs/list.txt?sig=1"}, Options{})
	if err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	defer ds.Close()
	if ds.Rows() != 4 {
		t.Errorf("%d rows, want 4", ds.Rows())
	}
	wantRefused(t, []string{"@" + server.URL + "/jobs/evil.txt"}, Options{}, "evil.txt", "/etc/hostname")
}

// TestAllow: files elsewhere are read once they are allowed, from the log of a table and a list alike.
func TestAllow(t *testing.T) {
	other := filepath.Join(t.TempDir(), "a b")
	content := parquetOf(t, 0, 100, 25, "a", "b")
	PutFile(t, other, "x.parquet", content)
	root := deltaNaming(t, "file://"+strings.ReplaceAll(other, " ", "%20")+"/x.parquet")
	log := filepath.Join(root, "_delta_log", "00000000000000000000.json")
	text := strings.Replace(string(must.Get(os.ReadFile(log))(t)), `"size":100`, fmt.Sprintf(`"size":%d`, len(content)), 1)
	must.Do(t, os.WriteFile(log, []byte(text), 0o600))
	list := filepath.Join(root, "list.txt")
	must.Do(t, os.WriteFile(list, []byte(filepath.Join(other, "*.parquet")+"\n"), 0o600))
	for _, input := range []string{root, "@" + list} {
		wantRefused(t, []string{input}, Options{Allow: []string{other + "-not", root}}, strings.TrimPrefix(input, "@"), other)
		ds, err := Open(t.Context(), []string{input}, Options{Allow: []string{other}})
		if err != nil {
			t.Errorf("%s: got error %v, want none", input, err)
			continue
		}
		if ds.Rows() != 100 {
			t.Errorf("%s: %d rows, want 100", input, ds.Rows())
		}
		must.Do(t, ds.Close())
	}
	for _, input := range []string{root, "@" + list, list} {
		if _, err := Open(t.Context(), []string{input}, Options{Allow: []string{"ftp://x/"}}); !chunkiotest.IsUsage(err) {
			t.Errorf("%s with a prefix that is none: %v, want a usage error", input, err)
		}
	}
}
