package main

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// TestReport: the page shows what select, path and eval have written, alone and together.
func TestReport(t *testing.T) {
	in, _ := plant(t, 300, 1)
	at := folder(t)
	must(t, "select", in, "-k", "6", "-o", at("greedy.json"))
	must(t, "select", in, "-k", "6", "--method", "laplacian", "-o", at("laplacian.json"))
	must(t, "path", in, "-k", "8", "-o", at("curve.json"))
	must(t, "path", in, "-k", "5", "--method", "sfufs", "--alpha", "1,10", "--gamma", "1,10", "-o", at("grid.json"))
	must(t, "path", in, "-k", "5", "--method", "fufs", "-o", at("fufs.json"))
	all := []string{at("greedy.json"), at("laplacian.json"), at("curve.json"), at("grid.json"), at("fufs.json")}
	for _, one := range all {
		page := must(t, "report", one)
		if !strings.HasPrefix(page, "<!DOCTYPE html>") || !strings.HasSuffix(strings.TrimSpace(page), "</html>") {
			t.Errorf("%s: no whole page", one)
		}
	}
	page := must(t, append([]string{"report"}, all...)...)
	for _, f := range selection(t, in, "-k", "6").Selected {
		if !strings.Contains(page, `<bdi class="name">`+f.Name+`</bdi>`) {
			t.Errorf("%s is not in the page", f.Name)
		}
	}
	for _, want := range []string{"Overlap of the selections", "2 selections, 1 curve, 2 grids", "elbow", "Map of the columns", "Stability over the grid"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if dash := must(t, append([]string{"report", "-o", "-"}, all...)...); dash != page {
		t.Error("-o - is not standard output")
	}
	out := must(t, append([]string{"report", "-o", at("report.html"), "--png", at("charts/png"), "--svg", at("charts/svg")}, all...)...)
	if read(t, at("report.html")) != page || out != "" {
		t.Errorf("the file is not the page; output %q", out)
	}
	var names [2][]string
	for i, end := range []string{"png", "svg"} {
		list, err := os.ReadDir(at("charts/" + end))
		if err != nil {
			t.Fatalf("listing a folder: %v", err)
		}
		for _, e := range list {
			name, ok := strings.CutSuffix(e.Name(), "."+end)
			if !ok {
				t.Errorf("%s among the charts", e.Name())
			}
			names[i] = append(names[i], name)
			chart := []byte(read(t, at("charts/"+end+"/"+e.Name())))
			if end == "png" {
				_, err = png.DecodeConfig(bytes.NewReader(chart))
			} else {
				err = xml.Unmarshal(chart, new(struct{}))
			}
			if err != nil {
				t.Errorf("decoding chart %s: %v", e.Name(), err)
			}
		}
	}
	slices.Sort(names[0]) // the folder has the endings sorted in
	slices.Sort(names[1])
	want := []string{"curve-explained", "fufs-agreement", "greedy-explained", "greedy-map", "grid-agreement", "grid-agreement-over-k", "laplacian-explained", "laplacian-map", "laplacian-scores", "selections-explained", "selections-overlap"}
	if !slices.Equal(names[0], want) || !slices.Equal(names[1], want) {
		t.Errorf("charts %q and %q, want %q", names[0], names[1], want)
	}
}

// TestReportErrors: a refusal has its exit code, names file and reason, and leaves nothing.
func TestReportErrors(t *testing.T) {
	in, _ := plant(t, 200, 1)
	at := folder(t)
	must(t, "select", in, "-k", "3", "-o", at("good.json"))
	for name, content := range map[string]string{
		"empty.json": "", "text.json": "rank,name\n", "other.json": `{"schema": "other/v1"}`,
		"none.json": `{"schema": "ufs-stream/selection/v1", "selected": []}`,
	} {
		write(t, at(name), content)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{}, exit.Usage, "no SEL.json given"},
		{[]string{at("absent.json")}, exit.Data, "no such file"},
		{[]string{at("")}, exit.Data, "directory"},
		{[]string{at("empty.json")}, exit.Data, "empty.json: not a result: it is empty"},
		{[]string{at("text.json")}, exit.Data, "text.json: not a result: line 1"},
		{[]string{at("good.json"), at("other.json")}, exit.Data, `other.json: its schema is "other/v1"`},
		{[]string{at("none.json")}, exit.Data, "the selection has no features"},
		{[]string{at("good.json"), "-o", at("page.pdf")}, exit.Usage, "page.html"},
		{[]string{at("good.json"), "-o", at("good.json")}, exit.Usage, "name it"},
		{[]string{at("good.json"), "-o", at("no/page.html")}, exit.Fault, "page.html"},
		{[]string{at("good.json"), "--png", at("good.json")}, exit.Fault, "good.json"},
		{[]string{at("good.json"), "--pngs", at("")}, exit.Usage, "did you mean"},
	} {
		ends(t, c.code, c.want, append([]string{"report"}, c.args...)...)
	}
	ends(t, exit.Data, "", "report", at("good.json"), at("other.json"), "-o", at("page.html"), "--svg", at("svg"))
	for _, name := range []string{"page.html", "svg"} {
		if _, err := os.Stat(at(name)); err == nil {
			t.Errorf("%s was left behind", name)
		}
	}
	if r := invoke("report", at("good.json"), "--svg", at("svg")); r.code != exit.Done || r.out != "" {
		t.Errorf("charts only: exit code %d, %d bytes of output, %s", r.code, len(r.out), r.err)
	}
	must(t, "report", at("good.json"), "-o", os.DevNull)
}
