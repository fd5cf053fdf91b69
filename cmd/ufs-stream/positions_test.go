package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// leftOutBetween is a CSV file with columns that are left out at both ends and between the features, and its text.
func leftOutBetween(t *testing.T, path string) (in, text string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,a,flat,y,b,note,c,d,end\n")
	for i := range 80 {
		x := func(k int) float64 { return math.Round(100 * math.Sin(float64(i*i*k+i))) }
		fmt.Fprintf(&b, "row %d,%v,4,%d,%v,text,%v,%v,z\n", i, x(1), i%2, x(2), x(3), x(1)+x(3)/10)
	}
	return write(t, path, b.String()), b.String()
}

// TestColumnInEveryForm: the table, CSV, JSON, Parquet, the details and the report name the columns of the file by the
// positions that encoding/csv reads them at.
func TestColumnInEveryForm(t *testing.T) {
	at := folder(t)
	in, text := leftOutBetween(t, at("x.csv"))
	header := strings.Split(strings.SplitN(text, "\n", 2)[0], ",")
	sel := at("sel.json")
	args := []string{"select", in, "--label", "y", "--method", "greedy", "-k", "3"}
	must(t, append(args, "-o", sel, "--details", at("details.parquet"))...)
	s := selection(t, args[1:]...)
	for form, rows := range map[string][][]string{
		"csv":     csvRows(t, must(t, append(args, "--format", "csv")...)),
		"parquet": parquetRows(t, at, append(args, "-o", at("ranking.parquet"))...),
	} {
		for i, f := range s.Selected {
			place := slices.Index(header, f.Name)
			if got := rows[i+1][1:3]; got[0] != f.Name || got[1] != strconv.Itoa(place) || f.Column != stream.PositionAt(place) {
				t.Errorf("%s: rank %d is %q, want %s at %d, and in JSON %v", form, i+1, got, f.Name, place, f.Column)
			}
		}
	}
	table := must(t, append(args, "--format", "table")...)
	must(t, "report", sel, "-o", at("r.html"))
	page := read(t, at("r.html"))
	for _, f := range s.Selected {
		place := strconv.Itoa(slices.Index(header, f.Name))
		if line := lineWith(table, " "+f.Name+" "); len(strings.Fields(line)) < 3 || strings.Fields(line)[2] != place {
			t.Errorf("table: %q, want %s at %s", line, f.Name, place)
		}
		if !strings.Contains(page, fmt.Sprintf(`<td class="n" data-v="%s">%[1]s</td></tr>`, place)) {
			t.Errorf("the report does not say that %s is at %s", f.Name, place)
		}
	}
	details := parquetRows(t, at, "apply", at("details.parquet"), "--selection", selectionNaming(t, at("all.json"), "column", "rank"), "-o", at("d.csv"))
	if want := []string{"1", "4", "6", "7"}; len(details) != 5 || !slices.EqualFunc(details[1:], want, slices.Contains) {
		t.Errorf("details: %q, want the positions %q", details, want)
	}
}

// TestUnknownColumnInEveryForm: what tells of no positions has none in any form: docs/vectors/tiny.ufs is of an earlier version.
func TestUnknownColumnInEveryForm(t *testing.T) {
	at := folder(t)
	args := []string{"select", "--stats", "../../docs/vectors/tiny.ufs", "--method", "greedy", "-k", "2"}
	for _, row := range csvRows(t, must(t, append(args, "--format", "csv")...))[1:] {
		if row[2] != "" {
			t.Errorf("csv: %q", row)
		}
	}
	if out := must(t, append(args, "--format", "json")...); strings.Count(out, `"column": null`) != 5 || strings.Contains(out, "input_columns") {
		t.Errorf("json: %s", out)
	}
	if table := must(t, append(args, "--format", "table")...); strings.Count(table, "  -  ") != 2 {
		t.Errorf("table: %s", table)
	}
	for _, row := range parquetRows(t, at, append(args, "-o", at("ranking.parquet"))...)[1:] {
		if row[2] != "" {
			t.Errorf("parquet: %q", row)
		}
	}
}

// TestVersion1IsRead: a selection of the schema before, whose columns are indices among the features, does all that one of
// this does, by names.
func TestVersion1IsRead(t *testing.T) {
	at := folder(t)
	in, _ := leftOutBetween(t, at("x.csv"))
	must(t, "select", in, "--label", "y", "--method", "greedy", "-k", "3", "-o", at("v2.json"))
	must(t, "scan", in, "--label", "y", "-o", at("x.ufs"))
	text := read(t, at("v2.json"))
	s, columns := selection(t, in, "--label", "y", "--method", "greedy", "-k", "3"), []string{"a", "b", "c", "d"}
	text = strings.Replace(text, stream.SelectionSchema, stream.SelectionSchemaV1, 1)
	for _, f := range s.Selected { // as it was written
		text = strings.Replace(text, fmt.Sprintf("%q,\n      \"column\": %v,", f.Name, f.Column), fmt.Sprintf("%q,\n      \"column\": %d,", f.Name, slices.Index(columns, f.Name)), 1)
	}
	write(t, at("v1.json"), text)
	for _, verb := range [][]string{
		{"apply", in, "--format", "sql", "--selection", ""}, {"eval", in, "--label", "y", "--runs", "1", "--selection", ""},
		{"check", "--stats", at("x.ufs"), "--selection", ""}, {"explain", "b", "--stats", at("x.ufs"), "--selection", ""},
	} {
		said := map[string]string{}
		for _, version := range []string{"v1", "v2"} {
			verb[len(verb)-1] = at(version + ".json")
			r := invoke(verb...)
			if r.code != exit.Done {
				t.Errorf("%q: exit code %d: %s", verb, r.code, r.err)
			}
			said[version] = r.out
		}
		if said["v1"] != said["v2"] {
			t.Errorf("%q: of version 1\n%s\nof version 2\n%s", verb, said["v1"], said["v2"])
		}
	}
	for _, version := range []string{"v1", "v2"} {
		must(t, "apply", in, "--selection", at(version+".json"), "-o", at(version+".csv"))
	}
	if one, two := read(t, at("v1.csv")), read(t, at("v2.csv")); one != two || len(csvRows(t, one)[0]) != 3 {
		t.Errorf("apply by version 1 has the columns %q", csvRows(t, one)[0])
	}
	if said := must(t, "diff", at("v1.json"), at("v2.json")); !strings.Contains(said, "3 features in both, 0 came, 0 went") {
		t.Errorf("diff: %s", said)
	}
	must(t, "report", at("v1.json"), "-o", at("r.html"))
	if page := read(t, at("r.html")); strings.Contains(page, "position in the input, from 0") {
		t.Error("the report shows the columns of version 1")
	}
}

// selectionNaming is a selection of columns of these names, at path.
func selectionNaming(t *testing.T, path string, names ...string) string {
	t.Helper()
	s := stream.Selection{}
	for i, name := range names {
		s.Selected = append(s.Selected, stream.Selected{Rank: i + 1, Name: name})
	}
	var b strings.Builder
	if err := s.Encode(&b); err != nil {
		t.Fatalf("encoding: %v", err)
	}
	return write(t, path, b.String())
}

func csvRows(t *testing.T, text string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatalf("no CSV: %v\n%s", err, text)
	}
	return rows
}

// parquetRows runs a command that writes a table, and returns its rows.
func parquetRows(t *testing.T, at func(string) string, args ...string) [][]string {
	t.Helper()
	must(t, args...)
	out := args[len(args)-1]
	if strings.HasSuffix(out, ".parquet") {
		must(t, "apply", out, "--selection", selectionNaming(t, at("names.json"), "rank"), "--also", "name,column,score,error", "-o", out+".csv")
		out += ".csv"
	}
	return csvRows(t, read(t, out))
}

func lineWith(text, words string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, words) {
			return line
		}
	}
	return ""
}
