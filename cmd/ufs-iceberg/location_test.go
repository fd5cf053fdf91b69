package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// tableAt is a lake of a table whose own place is this, with places that are allowed.
func tableAt(t *testing.T, own string, allow ...string) *lake {
	t.Helper()
	l := newLake(t.Context(), request{table: own, allow: allow})
	l.scope = must.Get(place.NewScope("the table", []string{own}, allow))(t)
	return l
}

// Locations as writers put them into metadata, and what ufs-stream opens.
func TestPlaces(t *testing.T) {
	storetest.IsolateEnvironment(t)
	const query = "endpoint=http://127.0.0.1:7070"
	for location, want := range map[string]string{
		"/lake/t/a b%20c.parquet":                       "/lake/t/a b%20c.parquet",
		"file:/lake/a.parquet":                          "/lake/a.parquet",
		"file:///lake/day=2026-01-01T00%3A00/a.parquet": "/lake/day=2026-01-01T00%3A00/a.parquet",
		"file://localhost/lake/a.parquet":               "/lake/a.parquet",
		"s3://b/k?endpoint=http://evil/a.parquet":       "s3://b/k?endpoint=http://evil/a.parquet?" + query,
		"s3a://b/k/x=1%2F2/a b#&.parquet":               "s3://b/k/x=1%2F2/a b#&.parquet?" + query,
		"s3n://b/k.parquet":                             "s3://b/k.parquet?" + query,
		"gs://b/k?anonymous=true":                       "gs://b/k?anonymous=true?" + query,
		"abfss://c@acc.dfs.core.windows.net/k.parquet":  "azblob://c/k.parquet?" + query,
		"abfss://c@acc.dfs.core.windows.net/k?endpoint=http://evil&storage_account=evil": "azblob://c/k?endpoint=http://evil&storage_account=evil?" + query,
		"wasb://c@acc.blob.core.windows.net/wh/t/data/k?x=1.p":                           "azblob://c/wh/t/data/k?x=1.p?" + query,
		"abfss://c/k":                  "azblob://c/k?" + query,
		"https://host/a.parquet?sig=1": "https://host/a.parquet?sig=1",
	} {
		own := "/lake"
		if scheme, _, _ := strings.Cut(want, "://"); scheme != want {
			own = scheme + "://" + map[string]string{"s3": "b", "gs": "b", "azblob": "c", "https": "host"}[scheme] + "/"
			if scheme != "https" {
				own += "?" + query
			}
		}
		if got, err := tableAt(t, own).resolvePlace(location); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", location, got, err, want)
		}
	}
	for location, want := range map[string]string{
		"hdfs://name:8020/a": "a store of an unknown kind, hdfs://", "data/a.parquet": "without saying from where", "s3://KEY:SECRET@b/k": "cannot be read",
		"file://host/share/a": "another machine", "file:a": "another machine", "s3:b/k": "cannot be read", "/lake/a\nb": "such characters", "s3://b/a\x00": "such characters", "https://u:SECRET@h/a": "not HOST",
		"\u00a0s3://b/k": "unknown kind",
	} {
		_, err := tableAt(t, "s3://b").resolvePlace(location)
		var bad *stream.DataError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v, want %q", location, err, want)
		}
	}
}

// Nothing that a location holds becomes a parameter of the URL that is opened, or another bucket.
func TestNoParametersInLocations(t *testing.T) {
	storetest.IsolateEnvironment(t)
	pieces := []string{"c", "acc", "@", "&", "?", "endpoint=http://evil", "=", "/", "#", "%3F", "%", " ", "\t", ".dfs.core.windows.net", "?storage_account=evil", "profile=prod", "anonymous=true", ":", "//", "..", "$"}
	own := map[string]string{"s3": "s3://c/?endpoint=http://mine", "gs": "gs://c/?endpoint=http://mine", "azblob": "azblob://c/?endpoint=http://mine&storage_account=acc"}
	rng := rand.New(rand.NewPCG(3, 4))
	opened := 0
	for range 20_000 {
		scheme := []string{"s3", "s3a", "gs", "azblob", "abfss", "wasb"}[rng.IntN(6)]
		text := scheme + "://" + []string{"", "c", "c@acc.dfs.core.windows.net"}[rng.IntN(3)]
		for range rng.IntN(7) {
			text += pieces[rng.IntN(len(pieces))]
		}
		root := own[map[string]string{"s3a": "s3", "abfss": "azblob", "wasb": "azblob"}[scheme]]
		if root == "" {
			root = own[scheme]
		}
		got, err := tableAt(t, root).resolvePlace(text)
		if err != nil {
			continue
		}
		opened++
		is, want := must.Get(store.Parse(got))(t), must.Get(store.Parse(root))(t)
		if is.WithKey("").String() != want.WithKey("").String() || is.Key != "" && !strings.HasSuffix(text, is.Key) {
			t.Fatalf("%q opens %q", text, got)
		}
	}
	if opened < 1000 {
		t.Errorf("only %d were opened", opened)
	}
}

func FuzzLocation(f *testing.F) {
	for _, seed := range []string{"/a/../b", "file:///a", "file://h/a", "s3://b/k?x=1", "abfss://c&endpoint=http://evil@acc.dfs.core.windows.net/k", "abfss://c@acc.evil/k", "https://h/a?b#c", "s3://b", "", ":", "s3:///k", "azblob://$web/a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		named, err := parseLocation(text)
		if err != nil {
			return
		}
		if named.bucket == "" {
			if !strings.HasPrefix(named.name, "/") && !strings.HasPrefix(named.name, "http") {
				t.Errorf("%q is %+v", text, named)
			}
			return
		}
		at, err := store.Parse(named.name)
		if err != nil || len(at.ParameterNames()) > 0 || at.Bucket != must.Get(store.Parse(named.bucket))(t).Bucket {
			t.Errorf("%q is %+v, %v", text, named, err)
		}
	})
}

// Files are allowed in the table's own place and where the user allows, compared by whole parts of paths.
func TestOutside(t *testing.T) {
	storetest.IsolateEnvironment(t)
	t.Setenv("AZURE_STORAGE_ACCOUNT", "acc")
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	must.Do(t, os.MkdirAll(filepath.Join(dir, "t"), 0o755))
	for _, test := range []struct {
		own, allow, location string
		inside               bool
	}{
		{dir + "/t", "", dir + "/t/data/a", true},
		{dir + "/t", "", dir + "/t/../u/a", false},
		{dir + "/t", "", dir + "/t-evil/a", false},
		{dir + "/t", "", "/etc/passwd", false},
		{dir + "/t", "", "file:///etc/passwd", false},
		{dir + "/t", dir + "/u", dir + "/u/a", true},
		{dir + "/t", dir + "/u", dir + "/u-evil/a", false},
		{dir + "/t", "", "s3://b/k", false},
		{dir + "/t", "", "http://169.254.169.254/latest", false},
		{dir + "/t", "s3://b/lake", "s3a://b/lake/k", true},
		{dir + "/t", "s3://b/lake", "s3://b/lake-evil/k", false},
		{dir + "/t", "s3://b/lake", "s3://b/lake/../x", false},
		{dir + "/t", "https://h/lake", "https://h/lake/%2e%2e/x", false},
		{dir + "/t", "https://h/lake", "https://h/lake/x", true},
		{dir + "/t", "https://h/lake", "http://h/lake/x", false},
		{"s3://b/wh/t", "", "s3://b/elsewhere/k", true}, // its own place is its bucket
		{"s3://b/wh/t", "", "s3://c/wh/t/k", false},
		{"s3://b/wh/t", "", "gs://b/wh/t/k", false},
		{"s3://b/wh/t", "", "/wh/t/k", false},
		{"azblob://c/t", "", "abfss://c@acc.dfs.core.windows.net/t/k", true},
		{"azblob://c/t", "", "abfss://c@evil.dfs.core.windows.net/t/k", false},
		{"azblob://c/t?storage_account=other", "", "abfss://c@acc.dfs.core.windows.net/t/k", false},
		{"azblob://c/t", "azblob://c?storage_account=other", "abfss://c@other.dfs.core.windows.net/t/k", true},
		{"azblob://c/t", "azblob://d?storage_account=other", "abfss://d@other.dfs.core.windows.net/t/k", true},
	} {
		var allow []string
		if test.allow != "" {
			allow = []string{test.allow}
		}
		opened, err := tableAt(t, test.own, allow...).resolvePlace(test.location)
		var bad *stream.DataError
		if (err == nil) != test.inside || err != nil && (!errors.As(err, &bad) || !strings.Contains(bad.Remedy.Spell(nil), "allow ")) {
			t.Errorf("%s of %s with %q: opens %q, %v; want inside %v", test.location, test.own, test.allow, opened, err, test.inside)
		}
	}
}

// withAllCredentials is an environment in which every store has credentials, which must go nowhere.
func withAllCredentials(t *testing.T) (secrets []string) {
	t.Helper()
	storetest.IsolateEnvironment(t)
	key := base64.StdEncoding.EncodeToString([]byte("SECRETofTheAccount0123456789"))
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIASECRET0123456789", "AWS_SECRET_ACCESS_KEY": "SECRETKEYofAWS0123456789", "AWS_SESSION_TOKEN": "SESSIONTOKEN0123456789",
		"AZURE_STORAGE_ACCOUNT": "acc", "AZURE_STORAGE_KEY": key, "ICEBERG_REST_TOKEN": "TOKENofREST0123456789",
	} {
		t.Setenv(name, value)
		if name != "AZURE_STORAGE_ACCOUNT" {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// forge puts another text of the same length in place of one in an Avro file of one block.
func forge(t *testing.T, file, was, is string) {
	t.Helper()
	b := must.Get(os.ReadFile(file))(t)
	sync := b[len(b)-16:]
	begin := bytes.Index(b, sync) + len(sync)
	count, n := binary.Varint(b[begin:])
	size, m := binary.Varint(b[begin+n:])
	block := must.Get(io.ReadAll(flate.NewReader(bytes.NewReader(b[begin+n+m:][:size]))))(t)
	if len(was) != len(is) || !bytes.Contains(block, []byte(was)) {
		t.Fatalf("%s: no %q in it for %q", file, was, is)
	}
	var packed bytes.Buffer
	w := must.Get(flate.NewWriter(&packed, -1))(t)
	_ = must.Get(w.Write(bytes.ReplaceAll(block, []byte(was), []byte(is))))(t)
	must.Do(t, w.Close())
	out := binary.AppendVarint(append([]byte(nil), b[:begin]...), count)
	out = binary.AppendVarint(out, int64(packed.Len()))
	must.Do(t, os.WriteFile(file, append(append(out, packed.Bytes()...), sync...), 0o600))
}

// A table whose data files lie outside its own place is refused by name, before any request to another server.
func TestDataElsewhere(t *testing.T) {
	secrets := withAllCredentials(t)
	evil := storetest.NewRecorder(t, nil)
	escaped := strings.ReplaceAll(evil.URL, "/", "%2F")
	s := local(t, events(), nil, nil)
	s.append(someEvents(rand.New(rand.NewPCG(12, 3)), 20))
	manifests := must.Get(s.current.CurrentSnapshot().Manifests(s.fs))(t)
	files := must.Get(filepath.Glob(filepath.Join(s.fs.root, "data", "*.parquet")))(t)
	if len(manifests) != 1 || len(files) != 1 {
		t.Fatalf("%d manifests, and %q", len(manifests), files)
	}
	was := files[0]
	for _, test := range []struct{ location, want string }{
		{"s3://lake/wh/t/data/", "s3://lake/wh/t/data/a"},
		{"s3://lake/k?use_path_style=true&endpoint=" + evil.URL + "/", "s3://lake/k?use_path_style=true"},
		{"s3://lake?endpoint=" + escaped + "/", "that cannot be read"},
		{"gs://lake/k?endpoint=" + evil.URL + "&x=", "gs://lake/k?endpoint="},
		{"abfss://lake@evil.dfs.core.windows.net/t/", "azblob://lake/t/a"},
		{"abfss://lake&endpoint=" + escaped + "@acc.dfs.core.windows.net/t/", "that cannot be read"},
		{"azblob://lake?endpoint=" + escaped + "&/t/", "that cannot be read"},
		{evil.URL + "/t/", evil.URL + "/t/a"},
		{"http://169.254.7.7/t/", "http://169.254.7.7/t/a"},
		{"file:///etc/", "/etc/a"},
		{s.fs.root + "/../../../../../../../../etc/", "/etc/a"},
		{"s3://lake/\n", "such characters"},
	} {
		is := test.location + strings.Repeat("a", len(was)-len(test.location))
		forge(t, manifests[0].FilePath(), was, is)
		was = is
		refused(t, 3, []string{s.fs.root}, test.want)
		if code, said := planOf(t, s.fs.root, "-o", filepath.Join(t.TempDir(), "p.plan.json")); code != 3 ||
			!strings.Contains(test.want, " ") && (!strings.Contains(said, "not in its own place") && !strings.Contains(said, "choose that") || !strings.Contains(said, "add --allow ")) {
			t.Errorf("%s: exit code %d: %s", test.location, code, said)
		}
	}
	evil.WantNoCredentials(t, secrets...)
	evil.WantSilence(t)
}

// Data files in a folder that the user allows are planned, and those of its neighbours are not.
func TestDataAllowed(t *testing.T) {
	other := filepath.Join(t.TempDir(), "data")
	s := local(t, events(), nil, iceberg.Properties{"write.data.path": other})
	rows := someEvents(rand.New(rand.NewPCG(12, 7)), 20)
	s.append(rows)
	refused(t, 3, []string{s.fs.root}, "not in its own place", "--allow "+other)
	for _, wrong := range []string{other + "-evil", other + "/..evil", s.fs.root} {
		refused(t, 3, []string{s.fs.root, "--allow", wrong}, "not in its own place")
	}
	plan := mustPlan(t, s.fs.root, "--allow", other)
	if head, _ := readPlan(t, plan); len(head.Roots) != 1 || head.Roots[0] != other {
		t.Errorf("the plan's roots are %q", head.Roots)
	}
	sameSelection(t, "allowed", mustSelect(t, "--plan", plan), mustSelect(t, byHand(t, events(), rows)))
}

// A list of manifests is named in the metadata; it too is only where the table is.
func TestManifestsElsewhere(t *testing.T) {
	secrets := withAllCredentials(t)
	evil := storetest.NewRecorder(t, nil)
	s := local(t, events(), nil, nil)
	s.append(someEvents(rand.New(rand.NewPCG(12, 4)), 20))
	metadata := s.current.MetadataLocation()
	text := string(must.Get(os.ReadFile(metadata))(t))
	list := s.current.CurrentSnapshot().ManifestList
	copied := filepath.Join(t.TempDir(), "list.avro")
	must.Do(t, os.WriteFile(copied, must.Get(os.ReadFile(list))(t), 0o600))
	for _, elsewhere := range []string{copied, "file://" + copied, "s3://b/x?endpoint=" + evil.URL, evil.URL + "/list.avro", "/etc/passwd", s.fs.root + "/../../x"} {
		must.Do(t, os.WriteFile(metadata, []byte(strings.ReplaceAll(text, list, elsewhere)), 0o600))
		refused(t, 3, []string{s.fs.root}, "not in its own place", "--allow ")
	}
	must.Do(t, os.WriteFile(metadata, []byte(strings.ReplaceAll(text, list, copied)), 0o600))
	mustPlan(t, s.fs.root, "--allow", filepath.Dir(copied))
	mustPlan(t, metadata, "--allow", copied)
	refused(t, 2, []string{s.fs.root, "--allow", "hdfs://a/b"}, "want a folder or file")
	evil.WantNoCredentials(t, secrets...)
	evil.WantSilence(t)
}

// The plan does not replace a file that it is made from.
func TestPlanIsNoInput(t *testing.T) {
	s := local(t, events(), nil, nil)
	s.append(someEvents(rand.New(rand.NewPCG(12, 5)), 20))
	for _, input := range []string{s.current.MetadataLocation(), s.current.CurrentSnapshot().ManifestList} {
		before := must.Get(os.ReadFile(input))(t)
		out := filepath.Join(filepath.Dir(input), "out.plan.json")
		must.Do(t, os.Link(input, out))
		code, said := planOf(t, s.fs.root, "-o", out)
		if code != 2 || !strings.Contains(said, "replace the input") || string(must.Get(os.ReadFile(out))(t)) != string(before) {
			t.Errorf("%s: exit code %d: %s", input, code, said)
		}
		must.Do(t, os.Remove(out))
	}
}

// What a catalog tells of servers and places is not taken from it.
func TestCatalogElsewhere(t *testing.T) {
	withAllCredentials(t)
	evil := storetest.NewRecorder(t, nil)
	for _, location := range []string{"s3://lake/wh/t", evil.URL + "/wh/t"} {
		dir := t.TempDir()
		s := newShelf(t, location, dir, events(), nil, nil)
		s.append(someEvents(rand.New(rand.NewPCG(12, 6)), 20))
		for _, config := range []map[string]string{
			{"s3.endpoint": evil.URL, "s3.path-style-access": "true"},
			{"ufs-stream.store": "endpoint=" + evil.URL, "s3.endpoint": evil.URL},
		} {
			server := restServer(t, s, os.Getenv(tokenVariable), config)
			refused(t, 3, []string{"sales.eu.t", "--catalog", "rest", "--uri", server.URL, "--warehouse", "lake house"}, "trust it", "add --")
		}
	}
	evil.WantSilence(t)
}

// The secrets for a catalog go to the servers that the user named, whatever it answers.
func TestCatalogSendsElsewhere(t *testing.T) {
	secrets := append(withAllCredentials(t), "CLIENTSECRET0123456789")
	evil := storetest.NewRecorder(t, nil)
	var answer http.HandlerFunc
	server := storetest.NewRecorder(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/oauth/tokens" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"t","token_type":"bearer"}`)
			return
		}
		answer(w, r)
	}))
	configured := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	sigv4 := configured(`{"defaults":{},"overrides":{"rest.sigv4-enabled":"true","rest.signing-name":"s3","rest.signing-region":"us-east-1","token":""}}`)
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, evil.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}, "sends us to"},
		"overridden":        {configured(`{"defaults":{},"overrides":{"uri":"` + evil.URL + `"}}`), "sends us to"},
		"tokens, default":   {configured(`{"defaults":{"oauth2-server-uri":"` + evil.URL + `/t"},"overrides":{}}`), ""},
		"tokens, overrides": {configured(`{"defaults":{},"overrides":{"rest.authorization-url":"` + evil.URL + `/t"}}`), ""},
		"signatures":        {sigv4, "signed with the credentials of AWS"},
	} {
		answer = test.answer
		for _, credential := range []string{"", "client:CLIENTSECRET0123456789"} {
			t.Setenv(credentialVariable, credential)
			token, want := "TOKENofREST0123456789", test.want
			if credential != "" {
				token = ""
			}
			if strings.HasPrefix(name, "tokens") && credential != "" {
				want = "oauth2-server-uri=" + evil.URL + "/t"
			}
			t.Setenv(tokenVariable, token)
			refused(t, 3, []string{"sales.eu.t", "--catalog", "rest", "--uri", server.URL}, want)
		}
	}
	evil.WantNoCredentials(t, secrets...)
	evil.WantSilence(t)
	for _, r := range server.RequestTexts() {
		if strings.Contains(strings.ToLower(r), "aws4-hmac") || strings.Contains(r, "SESSIONTOKEN") {
			t.Errorf("the catalog got what is AWS's:\n%s", r)
		}
	}
}
