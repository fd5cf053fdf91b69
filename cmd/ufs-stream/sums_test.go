package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdbtest"
	mustbe "github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// measured is a file of columns far from 0, some with nulls, a copy, and names that want quoting.
func measured(t *testing.T, path string) string {
	t.Helper()
	random := rand.New(rand.NewPCG(8, 8))
	names := []string{"plain", `it's "b"`, "back\\slash", "d", "copy", "holes", "more holes", "flat", "h"}
	columns := make([][]float64, len(names))
	for i := range 3000 {
		x, y := random.NormFloat64(), random.NormFloat64()
		row := []float64{x, 1e6 + y, 0.3*x + random.NormFloat64(), 1e-3*y + 1e-4*random.NormFloat64(), 5 - 2*x, x + y, 100 + random.NormFloat64(), 7, random.ExpFloat64()}
		if random.IntN(3) == 0 {
			row[5] = math.NaN()
		}
		if i > 1000 && random.IntN(5) > 0 {
			row[6] = math.NaN()
		}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	return columnsFile(t, path, names, columns...)
}

// cellsOf reads the cells of a CSV of names and numbers.
func cellsOf(t *testing.T, text string) (header []string, rows [][]string) {
	t.Helper()
	all := mustbe.Get(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	return all[0], all[1:]
}

// TestSumsOfDuckDB: DuckDB runs the query that matrix writes on the files. From its result, as Parquet or CSV, follow the
// covariances, correlations, selections, paths and explanations of our own scan.
func TestSumsOfDuckDB(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	measured(t, "in.parquet")
	must(t, "scan", "in.parquet", "-o", "own.ufs")
	query := must(t, "matrix", "in.parquet", "--format", "sql")
	query = strings.TrimSuffix(strings.TrimSpace(query), ";")
	session := duckdbtest.StartSession(t, dir)
	for _, file := range []string{"sums.parquet", "sums.csv"} {
		if r := duckdbtest.QuerySession(t, session, fmt.Sprintf("COPY (\n%s\n) TO '%s'", query, file)); r.Error != "" {
			t.Fatalf("DuckDB: %s\n%s", r.Error, query)
		}
		must(t, "scan", "--from-sums", file, "-o", "sums.ufs")
		for _, flags := range [][]string{{"--of", "covariance", "--missing", "pairwise"}, {"--missing", "mean"}, {"--missing", "zero", "--of", "covariance"}} {
			var cells [2][][]string
			for k, stats := range []string{"own.ufs", "sums.ufs"} {
				must(t, append([]string{"matrix", "--stats", stats, "-o", "m.csv"}, flags...)...)
				var header []string
				if header, cells[k] = cellsOf(t, read(t, "m.csv")); len(header) != 9 {
					t.Fatalf("%s %v: header %q, want the name and 8 columns", stats, flags, header)
				}
			}
			number := func(k, i, j int) float64 { return mustbe.Get(strconv.ParseFloat(cells[k][i][j], 64))(t) }
			for i, row := range cells[0] {
				for j := range row[1:] {
					unit := 1.0
					if flags[0] == "--of" || len(flags) > 2 {
						unit = math.Sqrt(number(0, i, i+1) * number(0, j, j+1))
					}
					if got, want := number(1, i, j+1), number(0, i, j+1); row[0] != cells[1][i][0] || math.Abs(got-want) > 1e-10*unit {
						t.Errorf("%s %v: entry %s, %d: got %v, want %v", file, flags, row[0], j, got, want)
					}
				}
			}
		}
	}
	for _, verb := range []string{"select --method greedy -k 5", "select --method greedy -k 4 --missing pairwise", "path --method greedy -k 5"} {
		args := append(strings.Fields(verb), "--format", "csv", "--stats")
		got, want := must(t, append(args, "sums.ufs")...), must(t, append(args, "own.ufs")...)
		gotHeader, gotRows := cellsOf(t, got)
		_, wantRows := cellsOf(t, want)
		at := max(slices.Index(gotHeader, "name"), slices.Index(gotHeader, "feature"))
		if at < 0 || len(gotRows) != len(wantRows) {
			t.Fatalf("%s: header %q, %d rows, want %d", verb, gotHeader, len(gotRows), len(wantRows))
		}
		for i := range gotRows {
			if gotRows[i][at] != wantRows[i][at] {
				t.Errorf("%s: place %d: got %s, want %s", verb, i+1, gotRows[i][at], wantRows[i][at])
			}
		}
	}
	for _, line := range []string{"8 features over 3,000 rows: rank 7, 6 clusters", "plain = −0.5·copy + 2.5", "it's \"b\" for d (0.99503), plain for copy (-1)"} {
		for _, stats := range []string{"sums.ufs", "own.ufs"} {
			if got := must(t, "redundancy", "--stats", stats); !strings.Contains(got, line) {
				t.Errorf("redundancy of %s: no %q in\n%s", stats, line, got)
			}
		}
	}
	must(t, "select", "--stats", "sums.ufs", "--method", "greedy", "-k", "3", "-o", "a.json")
	must(t, "select", "--stats", "own.ufs", "--method", "greedy", "-k", "3", "-o", "b.json")
	if x := must(t, "explain", "copy", "--selection", "a.json", "--stats", "sums.ufs"); !strings.Contains(x, "exactly: copy = ") && !strings.Contains(x, "exactly: plain = ") {
		t.Errorf("explain does not find the copy:\n%s", x)
	}
	if d := decoded[stream.Selection](t, "select", "--stats", "sums.ufs"); d.Method != "greedy" {
		t.Errorf("without --method: %s, want greedy, as there are no rows", d.Method)
	}
	must(t, "diff", "a.json", "b.json")
	for _, method := range []string{"sfufs", "eufs", "align"} {
		ends(t, exit.Usage, "sums", "select", "--stats", "sums.ufs", "--method", method, "-k", "2")
	}
}

// TestSumsRefuse: sums that no data have, or that are not of one table, are refused with their place, and leave no file.
func TestSumsRefuse(t *testing.T) {
	t.Chdir(t.TempDir())
	const head = "x,y,total,n,shift_x,shift_y,sum_x,sum_y,sum_xy,min_x,max_x\n"
	const a, b, ab = "a,a,4,4,1,1,0,0,4,0,2\n", "b,b,4,4,2,2,0,0,4,1,3\n", "a,b,4,4,1,2,0,0,3,0,2\n"
	c := "c,c,4,4,0,0,0,0,4,-1,1\na,c,4,4,1,0,0,0,3,0,2\n"
	for words, text := range map[string]string{
		"":                               head + a + ab + b,
		"pair a, b is missing":           head + a + b,
		"no row for itself":              head + a + ab,
		"other sums":                     head + a + ab + b + "b,a,4,4,2,1,0,0,2,1,3\n",
		"shifts are not those":           head + a + b + "a,b,4,4,1,9,0,0,3,0,2\n",
		"this cannot be":                 head + a + b + "a,b,4,3,1,2,0,0,3,0,2\n",
		"larger than their squares":      head + a + b + "a,b,4,4,1,2,0,0,5,0,2\n",
		"total the same":                 head + a + b + "a,b,5,4,1,2,0,0,3,0,2\n",
		"sum_xy is missing":              head + a + b + "a,b,4,4,1,2,0,0,,0,2\n",
		"sum_x is missing":               head + strings.ReplaceAll(a+ab+b, ",0,0,", ",none of them,0,"),
		"lacks the name":                 head + a + b + ab + ",b,4,4,1,2,0,0,3,0,2\n",
		"not positive semidefinite":      head + a + ab + b + c + "b,c,4,4,2,0,0,0,-3,1,3\n",
		"has the columns x, y, total, n": "x,y,total\na,a,3\n",
		"contradict":                     head + "a,a,4,4,1,1,0,0,-4,0,2\n",
	} {
		write(t, "sums.csv", text)
		if words == "" {
			must(t, "scan", "--from-sums", "sums.csv", "-o", "good.ufs")
			continue
		}
		r := invoke("scan", "--from-sums", "sums.csv", "-o", "bad.ufs")
		if r.code != exit.Data && r.code != exit.Usage || !strings.Contains(r.err, words) {
			t.Errorf("%q: exit code %d, %s", words, r.code, r.err)
		}
	}
	ends(t, exit.Usage, "--where is for reading rows", "scan", "--from-sums", "sums.csv", "--where", "a > 1", "-o", "bad.ufs")
	ends(t, exit.Usage, "give it or INPUT", "scan", "sums.csv", "--from-sums", "sums.csv", "-o", "bad.ufs")
	ends(t, exit.Usage, "no INPUT given", "matrix", "--format", "sql")
	ends(t, exit.Usage, "leave --pairs out", "matrix", "sums.csv", "--format", "sql", "--pairs", "0.5")
	if _, left := mustbe.Files(t, ".")["bad.ufs"]; left {
		t.Error("a refused file of sums left bad.ufs")
	}
}
