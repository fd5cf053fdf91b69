package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
)

// TestSignedURLsStaySecret: the query of an https:// URL can be a signature. It is needed
// again for every pass, and it is in no output, whatever the verb and however it ends.
func TestSignedURLsStaySecret(t *testing.T) {
	storetest.IsolateEnvironment(t)
	dir, paths := plantHoled(t, 400, 2)
	at := folder(t)
	must(t, "select", dir, "-k", "3", "--missing", "mean", "-o", filepath.Join(dir, "sel.json"))
	must(t, "scan", dir, "--missing", "mean", "-o", filepath.Join(dir, "all.ufs"))
	chosen := names(readSelection(t, filepath.Join(dir, "sel.json")))
	write(t, filepath.Join(dir, "groups.json"), fmt.Sprintf(`{"g": [%q, %q]}`, chosen[0], chosen[1]))
	write(t, filepath.Join(dir, "list.txt"), strings.Join(paths, "\n")+"\n")
	must(t, "tree", dir, "--tree", "correlation", "--missing", "mean", "-o", filepath.Join(dir, "tree.json"))
	must(t, "scan", dir, "--missing", "mean", "--profile-only", "-o", filepath.Join(dir, "profile.ufs"))
	must(t, "plan", dir, "--missing", "mean", "-k", "3", "-o", filepath.Join(dir, "job.plan.json"))
	write(t, filepath.Join(dir, "costs.csv"), chosen[0]+",2\n")
	write(t, filepath.Join(dir, "bad.parquet"), damaged(read(t, paths[0]), 4, 3000, 3))
	const secret = "X-Amz-Signature=" + plantedSecret
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != secret {
			http.Error(w, "not signed", http.StatusForbidden)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	url := func(name string) string { return server.URL + "/" + name + "?" + secret }
	a, b, sel, stats := url("part-000.parquet"), url("part-001.parquet"), url("sel.json"), url("all.ufs")
	for _, c := range []struct {
		code int
		out  string
		args []string
	}{
		{exit.Done, "", []string{"select", a, b, "-k", "3", "--missing", "drop-row", "-v"}}, // three passes
		{exit.Done, "x.json", []string{"select", a, b, "-k", "3", "--missing", "mean"}},
		{exit.Done, "", []string{"select", a, url("bad.parquet"), "-k", "3", "--missing", "mean", "--on-error", "skip-file"}},
		{exit.Done, "o.json", []string{"select", a, b, "-k", "1", "--missing", "mean", "--groups", url("groups.json"), "--costs", url("costs.csv"), "-v"}},
		{exit.Done, "o.ufs", []string{"scan", a, b, "--missing", "mean", "--profile", url("profile.ufs")}},
		{exit.Done, "l.json", []string{"select", "@" + url("list.txt"), "-k", "3", "--missing", "mean", "-v", "--allow", dir}},
		{exit.Done, "j.json", []string{"select", "--plan", url("job.plan.json"), "-v", "--allow", dir}},
		{exit.Done, "j.ufs", []string{"scan", "--plan", url("job.plan.json"), "--allow", dir}},
		{exit.Done, "c.json", []string{"check", "--selection", sel, "--stats", stats, "--baseline", stats}},
		{exit.Done, "d.json", []string{"diff", sel, sel}},
		{exit.Done, "n.json", []string{"explain", chosen[0], "--selection", sel, "--stats", stats}},
		{exit.Done, "r.json", []string{"redundancy", "--stats", stats}},
		{exit.Done, "v.parquet", []string{"convert", a, b}},
		{exit.Usage, "x.sql", []string{"select", a, b, "-k", "3", "--missing", "mean"}}, // a query would have to tell the signatures
		{exit.Done, "x.py", []string{"select", a, b, "-k", "3", "--missing", "mean"}},
		{exit.Done, "x.yaml", []string{"select", a, b, "-k", "3", "--missing", "mean"}},
		{exit.Done, "g.json", []string{"select", b, "-k", "3", "--missing", "mean", "--method", "laplacian", "--anchors-file", a}},
		{exit.Done, "x.ufs", []string{"scan", a, "--missing", "mean"}},
		{exit.Done, "", []string{"inspect", a, b, "--format", "json"}},
		{exit.Done, "", []string{"inspect", stats}},
		{exit.Done, "", []string{"plan", a, "--format", "json"}},
		{exit.Done, "s.json", []string{"select", "--stats", stats, "-k", "3"}},
		{exit.Done, "m.ufs", []string{"merge", stats}},
		{exit.Done, "e.json", []string{"eval", a, b, "--selection", sel, "--selection", "other=" + sel, "--resamples", "0"}},
		{exit.Done, "p.html", []string{"report", sel}},
		{exit.Done, "small", []string{"apply", a, b, "--selection", sel}},
		{exit.Data, "", []string{"select", a, url("bad.parquet"), "-k", "3", "--missing", "mean"}},
		{exit.Data, "", []string{"select", a, "-k", "3", "--missing", "error"}}, // a value is missing
		{exit.Data, "", []string{"select", url("absent.parquet"), "-k", "3"}},
		{exit.Data, "", []string{"select", a + "x", "-k", "3"}},
		{exit.Data, "", []string{"select", "--stats", url("absent.ufs"), "-k", "3"}},
		{exit.Data, "", []string{"merge", url("absent.ufs"), "-o", at("absent.ufs")}},
		{exit.Usage, "", []string{"merge", stats, url("part-000.parquet"), "-o", a}},
		{exit.Usage, "", []string{"merge", stats, stats, "-o", at("twice.ufs")}},
		{exit.Usage, "", []string{"select", "--stats", stats, "-k", "3", "--label", "strange"}},
		{exit.Usage, "", []string{"select", stats, "-k", "3"}},
		{exit.Usage, "", []string{"plan", "--stats", stats}},
		{exit.Data, "", []string{"eval", a, "--selection", a}},
		{exit.Data, "", []string{"report", a}},
		{exit.Usage, "", []string{"report", sel, "-o", url("x.json")}},
		{exit.Usage, "", []string{"select", a, "-k", "3", "-o", url("x.json")}},
		{exit.Usage, "", []string{"apply", a, "--selection", sel, "-o", url("x.csv")}},
		{exit.Usage, "", []string{"apply", a, "--selection", sel, "-o", url("x")}},
		{exit.Usage, "", []string{"select", a, "-k", "3", "--checkpoint", url("x")}},
		{exit.Usage, "", []string{"demo", "--keep", url("x")}},
		{exit.Usage, "", []string{"select", a, "-k", "3", "--method", "hufs", "--tree", url("tree.json")}},
		{exit.Usage, "", []string{"tree", a, "--tree", url("tree.json")}},
		{exit.Done, "t.json", []string{"tree", a, b, "--tree", "correlation", "--missing", "mean"}},
	} {
		args := c.args
		if c.out != "" {
			args = append(slices.Clone(args), "-o", at(c.out))
		}
		r := invoke(args...)
		if r.code != c.code {
			t.Errorf("%q: exit code %d, want %d\n%s", c.args, r.code, c.code, r.err)
		}
		text := r.out + r.err
		if c.out != "" && c.out != "small" && r.code == exit.Done {
			text += read(t, at(c.out))
		}
		if strings.Contains(text, plantedSecret) {
			t.Errorf("%q tells the secret:\n%s", c.args, text)
		}
	}
}

// TestResumeHidesSignatures: the command that goes on after an interruption is shown
// without them, and says so.
func TestResumeHidesSignatures(t *testing.T) {
	args := []string{"select", "https://host/x.parquet?sig=SECRET", "--stats=https://host/y.ufs?sig=SECRET", "s3://b/k?region=r", "a=b", "-k", "3"}
	shown, hidden := redactArgs(args)
	want := []string{"select", "https://host/x.parquet", "--stats=https://host/y.ufs", "s3://b/k?region=r", "a=b", "-k", "3"}
	if !hidden || !slices.Equal(shown, want) {
		t.Errorf("%v, %q; want %q", hidden, shown, want)
	}
	endpoints := []string{"s3://b/k?endpoint=http://host:9&region=r", "delta://s3://b/t?endpoint=https://host"}
	if shown, hidden := redactArgs(endpoints); hidden || !slices.Equal(shown, endpoints) {
		t.Errorf("%v, %q, though an endpoint is no secret", hidden, shown)
	}
	if shown, hidden := redactArgs(args[3:]); hidden || !slices.Equal(shown, args[3:]) {
		t.Errorf("%v, %q, though nothing is secret", hidden, shown)
	}
}

// signatures counts requests with a signature and without. They come from goroutines of the
// proxy, of which some may outlive the run whose requests they serve.
type signatures struct{ signed, unsigned atomic.Int64 }

func countSignatures(p *storetest.Proxy) *signatures {
	s := new(signatures)
	p.OnRequest(func(r *http.Request) *http.Response {
		if r.Header.Get("Authorization") != "" || r.URL.Query().Has("X-Amz-Signature") {
			s.signed.Add(1)
		} else {
			s.unsigned.Add(1)
		}
		return nil
	})
	return s
}

// take is the counts since it was last called.
func (s *signatures) take() (signed, unsigned int64) { return s.signed.Swap(0), s.unsigned.Swap(0) }

// TestAnonymous: with the flag no request for an input is signed; an output's is.
func TestAnonymous(t *testing.T) {
	s := storetest.S3(t)
	proxy := storetest.NewProxy(t, s.Endpoint)
	_, paths := plant(t, 300, 1)
	upload(t, s, paths[0], "in.parquet")
	at := folder(t)
	must(t, "select", paths[0], "-k", "3", "-o", at("sel.json"))
	must(t, "scan", paths[0], "-o", at("all.ufs"))
	upload(t, s, at("all.ufs"), "all.ufs")
	counts := countSignatures(proxy)
	in, sel := s.URLAt(proxy.URL, "in.parquet"), at("sel.json")
	for _, args := range [][]string{
		{"select", in, "-k", "3"}, {"path", in, "-k", "3"}, {"plan", in}, {"scan", in, "-o", at("x.ufs")}, {"inspect", in},
		{"apply", in, "--selection", sel, "-o", at("x.parquet")}, {"eval", in, "--selection", sel}, {"tree", in, "--tree", "correlation"},
		{"select", "--stats", s.URLAt(proxy.URL, "all.ufs"), "-k", "3"},
		{"apply", paths[0], "--selection", s.URLAt(proxy.URL, "sel.json"), "-o", at("x.parquet")},
	} {
		r := invoke(append(args, "--anonymous")...)
		signed, unsigned := counts.take()
		if r.code != exit.Data || !strings.Contains(r.err, "--anonymous") || signed != 0 || unsigned == 0 {
			t.Errorf("%s: exit code %d, %d requests signed, %d not\n%s", args[0], r.code, signed, unsigned, r.err)
		}
	}
	must(t, "select", paths[0], "-k", "3", "--anonymous", "-o", s.URLAt(proxy.URL, "sel.json"))
	if signed, _ := counts.take(); signed == 0 {
		t.Error("the output's requests are not signed")
	}
}
