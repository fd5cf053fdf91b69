package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// inBucket writes a table to a folder, as a writer of a location in a store does, and puts its
// files into the store.
func inBucket(t *testing.T, s *storetest.Server, location string) (table *shelf, rows []row) {
	t.Helper()
	dir := t.TempDir()
	table = newShelf(t, location, dir, events(), layouts()["identity"], iceberg.Properties{"write.format.default": "parquet"})
	rng := rand.New(rand.NewPCG(12, 2))
	for range 2 {
		more := someEvents(rng, 60)
		rows = append(rows, more...)
		table.append(more)
	}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		s.PutObject("wh/t/"+filepath.ToSlash(must.Get(filepath.Rel(dir, path))(t)), must.Get(os.ReadFile(path))(t))
		return nil
	}))
	return table, rows
}

// A table in each kind of store: its metadata name files as other programs write them, and the
// plan as ufs-stream does; the parameters of the table's URL stand in it once, and who reads it
// says that he means them.
func TestTablesInStores(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		location := map[string]string{
			"s3": "s3a://" + s.Bucket + "/wh/t", "gs": "gs://" + s.Bucket + "/wh/t",
			"azblob": "abfss://" + s.Bucket + "@devstoreaccount1.dfs.core.windows.net/wh/t",
		}[s.Scheme]
		table, rows := inBucket(t, s, location)
		hand := byHand(t, events(), rows)
		first := itoa(*table.current.CurrentSnapshot().ParentSnapshotID)
		runCommand(t, "scan", "--plan", mustPlan(t, s.URL("wh/t"), "--snapshot", first), "--columns", "x*", "--allow", s.URL(""), "-o", s.URL("total.ufs"))
		day, sum := filepath.Join(t.TempDir(), "day.ufs"), filepath.Join(t.TempDir(), "sum.ufs")
		runCommand(t, "scan", "--plan", mustPlan(t, s.URL("wh/t"), "--since", s.URL("total.ufs")), "--columns", "x*", "--allow", s.URL(""), "-o", day)
		runCommand(t, "merge", s.URL("total.ufs"), day, "-o", sum)
		sameSelection(t, "changes in the store", mustSelect(t, "--stats", sum), mustSelect(t, hand))
		for _, at := range []string{s.URL("wh/t"), s.URL("wh/t/metadata/v3.metadata.json")} {
			for _, where := range []string{"x2 > 0", "day >= '2026-01-03' and ok"} {
				plan, said := tryPlan(t, at, "--where", where)
				want, none := selectFeatures(t, hand, "--where", where)
				if plan == "" {
					if none == "" {
						t.Errorf("%s: only the plan is refused: %s", at, said)
					}
					continue
				}
				sameSelection(t, at+" where "+where, mustSelect(t, "--plan", plan, "--allow", s.URL("")), want)
				head, lines := readPlan(t, plan)
				if len(head.Roots) != 1 || !strings.Contains(head.Roots[0], "endpoint="+s.Endpoint) {
					t.Errorf("the plan's roots are %q", head.Roots)
				}
				for _, f := range lines {
					if !strings.HasPrefix(f.Path, s.Scheme+"://"+s.Bucket+"/wh/t/data/") || strings.Contains(f.Path, "?") || f.Version == "" {
						t.Errorf("file of the plan: got %+v, want a versioned object of the table's bucket without parameters", f)
					}
				}
			}
		}
	})
}

// restServer is the part of a REST catalog that a reader of tables asks, by the specification: the
// configuration of a warehouse, and one table. It is no real catalog: none is to be had from
// the registries that the project may use.
func restServer(t *testing.T, table *shelf, token string, config map[string]string) *httptest.Server {
	t.Helper()
	refuse := func(w http.ResponseWriter, code int, kind, message string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": kind, "code": code}})
	}
	mux := http.NewServeMux()
	guard := func(do http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
				refuse(w, http.StatusUnauthorized, "NotAuthorizedException", "no token, or a wrong one")
				return
			}
			do(w, r)
		}
	}
	mux.HandleFunc("GET /v1/config", guard(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("warehouse") != "lake house" {
			refuse(w, http.StatusNotFound, "NoSuchWarehouseException", "there is no such warehouse")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{"prefix": "one"}})
	}))
	mux.HandleFunc("GET /v1/one/namespaces/{namespace}/tables/{table}", guard(func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("namespace") != "sales\x1feu" || r.PathValue("table") != "t" {
			refuse(w, http.StatusNotFound, "NoSuchTableException", "Table does not exist")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"metadata-location": table.current.MetadataLocation(), "metadata": table.current.Metadata(), "config": config})
	}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// A table of a REST catalog, on the disk and in a store whose address the catalog tells.
func TestRESTCatalog(t *testing.T) {
	s := local(t, events(), nil, nil)
	rows := someEvents(rand.New(rand.NewPCG(13, 2)), 60)
	s.append(rows)
	server := restServer(t, s, "secret-token", nil)
	of := func(table string) []string {
		return []string{table, "--catalog", "rest", "--uri", server.URL, "--warehouse", "lake house"}
	}
	refused(t, 3, of("sales.eu.t"), "NotAuthorized", "ICEBERG_REST_TOKEN")
	t.Setenv(tokenVariable, "secret-token")
	refused(t, 3, of("sales.eu.t"), "not in its own place", "--allow "+filepath.Dir(s.fs.root)[:4]) // a catalog cannot choose files of this disk
	allowed := func(table string) []string { return append(of(table), "--allow", s.fs.root) }
	sameSelection(t, "REST", mustSelect(t, "--plan", mustPlan(t, allowed("sales.eu.t")...)), mustSelect(t, byHand(t, events(), rows)))
	refused(t, 3, of("sales.us.t"), "this catalog has no table sales.us.t")
	refused(t, 3, []string{"sales.eu.t", "--catalog", "rest", "--uri", server.URL, "--warehouse", "other"}, "no such warehouse")
	server.Close()
	refused(t, 75, of("sales.eu.t"), server.URL)
}

func TestRESTCatalogOverStore(t *testing.T) {
	bucket := storetest.S3(t)
	s, rows := inBucket(t, bucket, "s3://"+bucket.Bucket+"/wh/t")
	want := mustSelect(t, byHand(t, events(), rows))
	told := map[string]string{"s3.endpoint": bucket.Endpoint, "s3.region": "us-east-1", "s3.path-style-access": "true"}
	server := restServer(t, s, "", told)
	args := []string{"sales.eu.t", "--catalog", "rest", "--uri", server.URL, "--warehouse", "lake house"}
	refused(t, 3, args, "names "+bucket.Endpoint+" as the server", "--store 'endpoint="+bucket.Endpoint+"&region=us-east-1&use_path_style=true'")
	store := []string{"--store", fmt.Sprintf("endpoint=%s&region=us-east-1&use_path_style=true", bucket.Endpoint)}
	allow := []string{"--allow", bucket.URL("")}
	sameSelection(t, "endpoint of the catalog, by flag too", mustSelect(t, append(allow, "--plan", mustPlan(t, append(args, store...)...))...), want)
	property := append(args, "--property", "s3.endpoint="+bucket.Endpoint, "--property", "s3.path-style-access=true") //nolint:gocritic // another list
	sameSelection(t, "endpoint by property", mustSelect(t, append(allow, "--plan", mustPlan(t, property...))...), want)
	silent := restServer(t, s, "", nil)
	args[4] = silent.URL
	sameSelection(t, "endpoint by flag", mustSelect(t, append(allow, "--plan", mustPlan(t, append(args, store...)...))...), want)
}

// A stub that answers GetTable as Glue does: the real one was not asked.
func TestGlueCatalogStub(t *testing.T) {
	bucket := storetest.S3(t)
	s, rows := inBucket(t, bucket, "s3://"+bucket.Bucket+"/wh/t")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ DatabaseName, Name string }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		if r.Header.Get("X-Amz-Target") != "AWSGlue.GetTable" || asked.DatabaseName != "sales" || asked.Name != "t" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"__type":"EntityNotFoundException","Message":"Entity Not Found"}`))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"Table": map[string]any{
			"Name": "t", "DatabaseName": "sales", "TableType": "EXTERNAL_TABLE",
			"Parameters": map[string]string{"table_type": "ICEBERG", "metadata_location": s.current.MetadataLocation()},
		}})
	}))
	t.Cleanup(server.Close)
	of := func(table string) []string {
		return []string{
			table, "--catalog", "glue", "--property", "glue.endpoint=" + server.URL, "--property", "glue.region=us-east-1",
			"--store", fmt.Sprintf("endpoint=%s&region=us-east-1&use_path_style=true", bucket.Endpoint),
		}
	}
	sameSelection(t, "Glue", mustSelect(t, "--allow", bucket.URL(""), "--plan", mustPlan(t, of("sales.t")...)), mustSelect(t, byHand(t, events(), rows)))
	refused(t, 3, of("sales.u"), "this catalog has no table sales.u")
}
