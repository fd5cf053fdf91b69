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

	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/store/storetest"
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
		s.Put("wh/t/"+filepath.ToSlash(must.Get(filepath.Rel(dir, path))(t)), must.Get(os.ReadFile(path))(t))
		return nil
	}))
	return table, rows
}

// A table in each kind of store: its metadata name files as other programs write them, and the
// plan as ufs-stream opens them, with the parameters of the table's URL.
func TestTablesInStores(t *testing.T) {
	storetest.Everywhere(t, func(t *testing.T, s *storetest.Server) {
		location := map[string]string{
			"s3": "s3a://" + s.Bucket + "/wh/t", "gs": "gs://" + s.Bucket + "/wh/t",
			"azblob": "abfss://" + s.Bucket + "@devstoreaccount1.dfs.core.windows.net/wh/t",
		}[s.Scheme]
		_, rows := inBucket(t, s, location)
		hand := byHand(t, events(), rows)
		for _, at := range []string{s.URL("wh/t"), s.URL("wh/t/metadata/v3.metadata.json")} {
			for _, where := range []string{"x2 > 0", "day >= '2026-01-03' and ok"} {
				plan, said := tryPlan(t, at, "--where", where)
				want, none := selectFeatures(t, hand, "--where", where)
				if plan == "" {
					if none == "" {
						t.Errorf("%s: %s", at, said)
					}
					continue
				}
				sameSelection(t, at+" where "+where, mustSelect(t, "--plan", plan), want)
				_, lines := readPlan(t, plan)
				for _, f := range lines {
					if !strings.HasPrefix(f.Path, s.Scheme+"://"+s.Bucket+"/wh/t/data/") || !strings.Contains(f.Path, "endpoint="+s.Endpoint) || f.Version == "" {
						t.Errorf("%+v", f)
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
	sameSelection(t, "REST", mustSelect(t, "--plan", mustPlan(t, of("sales.eu.t")...)), mustSelect(t, byHand(t, events(), rows)))
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
	sameSelection(t, "endpoint of the catalog", mustSelect(t, "--plan", mustPlan(t, args...)), want)
	silent := restServer(t, s, "", nil)
	args[4] = silent.URL
	args = append(args, "--store", fmt.Sprintf("endpoint=%s&region=us-east-1&use_path_style=true", bucket.Endpoint))
	sameSelection(t, "endpoint by flag", mustSelect(t, "--plan", mustPlan(t, args...)), want)
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
	sameSelection(t, "Glue", mustSelect(t, "--plan", mustPlan(t, of("sales.t")...)), mustSelect(t, byHand(t, events(), rows)))
	refused(t, 3, of("sales.u"), "this catalog has no table sales.u")
}

// Locations as writers put them into metadata, and what ufs-stream opens.
func TestPlaces(t *testing.T) {
	const query = "endpoint=http://127.0.0.1:7070&region=r"
	for location, want := range map[string]string{
		"/lake/t/a b%20c.parquet":                              "/lake/t/a b%20c.parquet",
		"file:/lake/a.parquet":                                 "/lake/a.parquet",
		"file:///lake/day=2026-01-01T00%3A00/a.parquet":        "/lake/day=2026-01-01T00%3A00/a.parquet",
		"s3a://b/k/x=1%2F2/a.parquet":                          "s3://b/k/x=1%2F2/a.parquet?" + query,
		"s3n://b/k.parquet":                                    "s3://b/k.parquet?" + query,
		"abfss://c@acc.dfs.core.windows.net/k.parquet":         "azblob://c/k.parquet?endpoint=http://127.0.0.1:7070&storage_account=acc",
		"wasb://c@acc.blob.core.windows.net/wh/t/data/k?x=1.p": "azblob://c/wh/t/data/k?x=1.p?endpoint=http://127.0.0.1:7070&storage_account=acc",
		"https://host/a.parquet?sig=1":                         "https://host/a.parquet?sig=1",
	} {
		l := newLake(t.Context(), query)
		if strings.HasPrefix(want, "azblob") {
			l.query = "endpoint=http://127.0.0.1:7070"
		}
		if got, err := l.place(location); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", location, got, err, want)
		}
	}
	for location, want := range map[string]string{
		"hdfs://name:8020/a": "a store of an unknown kind, hdfs://", "data/a.parquet": "without saying from where", "s3://KEY:SECRET@b/k": "not the name of a bucket",
	} {
		if _, err := newLake(t.Context(), query).place(location); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", location, err)
		}
	}
}
