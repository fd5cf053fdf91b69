package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestRecordsNameNoServers: what a selection or a statistics file names is not asked for by the verbs that
// use it, and completion on a folder whose log names a server asks nobody either.
func TestRecordsNameNoServers(t *testing.T) {
	server := storetest.NewRecorder(t, nil)
	storetest.IsolateEnvironment(t)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIAPLANTED", "AWS_SECRET_ACCESS_KEY": "PLANTED-SECRET-aws", "AZURE_STORAGE_ACCOUNT": "mine", "AZURE_STORAGE_KEY": "UExBTlRFRA==",
	} {
		t.Setenv(name, value)
	}
	dir, paths := plant(t, 400, 1)
	at := folder(t)
	must(t, "select", dir, "-k", "2", "--method", "laplacian", "--anchors-file", paths[0], "-o", at("sel.json"))
	for _, name := range []string{
		"s3://b/p.parquet?endpoint=" + server.URL, "azblob://c/p.parquet?endpoint=" + server.URL, server.URL + "/p.parquet", "http://127.0.0.1/p.parquet", "file:///etc/hostname", "/etc/hostname",
	} {
		// Statistics name their input, which tells whether a dot is of a name or of a struct.
		s := &stream.Selection{Inputs: []stream.Input{{Path: name}}, Selected: []stream.Selected{{Name: "a.b"}}}
		if _, err := locateColumns(t.Context(), s, &ufs.Request{Stats: at("all.ufs")}, false); err == nil || !strings.Contains(err.Error(), "not in its own place") && !strings.Contains(err.Error(), "only arguments") {
			t.Errorf("statistics that name %s: %v, want a refusal", name, err)
		}
		for option, names := range map[string]string{"anchors-file": "edited.json: it names", "groups": "names the file"} {
			evil := edited(t, at("sel.json"), func(_, options map[string]any) { options[option] = name })
			ends(t, exit.Data, names, "eval", dir, "--selection", evil, "--resamples", "2")
		}
		table := folder(t)
		if err := os.Mkdir(table("_delta_log"), 0o755); err != nil {
			t.Fatalf("got error %v, want none", err)
		}
		write(t, table("_delta_log/00000000000000000000.json"), fmt.Sprintf(`{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"t","format":{"provider":"parquet"},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}}}
{"add":{"path":%q,"partitionValues":{},"size":100,"modificationTime":1,"dataChange":true}}
`, name))
		must(t, "__complete", "select", table(""), "--columns", "")
		ends(t, exit.Data, "--allow", "select", table(""), "-k", "1")
	}
	server.WantSilence(t)
	// What the user allows is read: the anchors lie elsewhere.
	must(t, "eval", dir, "--selection", at("sel.json"), "--resamples", "2", "--allow", dir)
}

// TestTreeWithoutEnding: a tree that a record names is a file whatever its ending: it is refused outside the record's
// own place, and a plan names it from the root.
func TestTreeWithoutEnding(t *testing.T) {
	dir, paths := plant(t, 400, 1)
	at := folder(t)
	must(t, "select", dir, "-k", "2", "--method", "hufs", "--tree", "correlation", "-o", at("sel.json"))
	must(t, "tree", dir, "--tree", "correlation", "-o", at("tree.json"))
	elsewhere := folder(t)("groups")
	write(t, elsewhere, read(t, at("tree.json")))
	evil := edited(t, at("sel.json"), func(_, options map[string]any) { options["tree"] = elsewhere })
	ends(t, exit.Data, "edited.json: it names", "eval", dir, "--selection", evil, "--resamples", "2")
	must(t, "eval", dir, "--selection", evil, "--resamples", "2", "--allow", elsewhere)

	t.Chdir(filepath.Dir(elsewhere))
	must(t, "plan", paths[0], "-k", "2", "--method", "hufs", "--tree", "groups", "-o", at("job.plan.json"))
	t.Chdir(dir)
	ends(t, exit.Data, "--allow "+filepath.Dir(elsewhere), "select", "--plan", at("job.plan.json"), "-k", "2")
	must(t, "select", "--plan", at("job.plan.json"), "-k", "2", "--allow", filepath.Dir(elsewhere))
}
