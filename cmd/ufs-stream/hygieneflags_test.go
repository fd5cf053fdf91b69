package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestLeaksOfATextLabel: in every format and by methods of every kind, a column that tells the texts of the label
// is warned of by name, and left out with --auto-exclude.
func TestLeaksOfATextLabel(t *testing.T) {
	at := folder(t)
	var text strings.Builder
	text.WriteString("a,b,c,score,answer\n")
	for i := range 300 {
		class := i * i % 7 % 3
		x := float64(i)
		fmt.Fprintf(&text, "%v,%v,%v,%v,%s\n", math.Sin(x), math.Cos(x*x), math.Sin(3*x*x), 10*float64(class)+math.Cos(x), []string{"no", "yes", "größer"}[class])
	}
	if err := os.WriteFile(at("in.csv"), []byte(text.String()), 0o644); err != nil {
		t.Fatalf("writing the input: %v", err)
	}
	must(t, "convert", at("in.csv"), "-o", at("in.parquet"))
	must(t, "select", at("in.parquet"), "--method", "variance", "-k", "4", "-o", at("all.json"))
	must(t, "apply", at("in.parquet"), "--selection", at("all.json"), "--also", "answer", "-o", at("in.arrow"))
	const warning = "warning: 1 column nearly determines the label answer: score (thresholds separate its classes); --exclude score or --auto-exclude leaves it out"
	for _, name := range []string{"in.csv", "in.parquet", "in.arrow"} {
		place := stream.PositionAt(3)
		if name == "in.arrow" { // which has the columns by their variance
			place = stream.PositionAt(0)
		}
		for _, method := range []string{"greedy", "sfufs", "eufs"} {
			args := []string{at(name), "--label", "answer", "--method", method, "-k", "2"}
			if r := invoke(append([]string{"select"}, args...)...); r.code != exit.Done || !strings.Contains(r.err, warning) {
				t.Errorf("%s, %s: exit code %d: %s", name, method, r.code, r.err)
			}
			s := decoded[stream.Selection](t, "select", append(args, "--auto-exclude")...)
			out := stream.LeftOut{Name: "score", Why: "nearly determines the label answer (thresholds separate its classes)", Column: place}
			if s.Features != 3 || !slices.Contains(s.LeftOut, out) || s.Suspects != nil {
				t.Errorf("%s, %s: %d features, left out %v, suspects %v", name, method, s.Features, s.LeftOut, s.Suspects)
			}
		}
	}
}

// TestSuspectsOnTheCommandLine: what is warned of names the flag that leaves it out, and with that the
// output lists the columns with the reason. A partition key is a feature where it is named.
func TestSuspectsOnTheCommandLine(t *testing.T) {
	var cols [3][]float64
	for i := range 200 {
		cols[0] = append(cols[0], float64((i*77)%200+5000))
		cols[1] = append(cols[1], math.Sin(float64(i)))
		cols[2] = append(cols[2], math.Cos(float64(i*i)))
	}
	at := folder(t)
	src := memory{rows: 200, data: slices.Concat(cols[:]...)}
	for _, name := range []string{"ticket", "a", "b"} {
		src.columns = append(src.columns, stream.Column{Name: name, Type: "double"})
	}
	for _, key := range []string{"site=3", "site=4"} {
		if err := os.Mkdir(at(key), 0o755); err != nil {
			t.Fatalf("making a folder: %v", err)
		}
		for i := range 200 { // the tickets of another site
			src.data[i] += 300
		}
		writeSource(t, filepath.Join(at(key), "x.parquet"), src, chunkio.WriteOptions{})
	}
	path := at("")
	const key = "site: a partition key: to use it, name it among the columns"
	for _, c := range []struct {
		args []string
		says []string // on standard output, or error
	}{
		{nil, []string{key, "warning: 1 column looks like an identifier: ticket; --exclude ticket or --auto-exclude leaves it out"}},
		{[]string{"--auto-exclude"}, []string{key, "ticket: looks like an identifier: whole numbers that hardly repeat", "2 features"}},
		{[]string{"--columns", "*"}, []string{"4 features"}},
		{[]string{"--columns", "a,site"}, []string{"2 features"}},
	} {
		r := invoke(append([]string{"select", path, "--method", "greedy"}, c.args...)...)
		for _, want := range c.says {
			if !strings.Contains(r.out+r.err, want) || r.code != exit.Done {
				t.Errorf("%v: exit code %d, no %q in %s%s", c.args, r.code, want, r.out, r.err)
			}
		}
	}
	ends(t, exit.Usage, "--max-missing 0", "select", path, "--max-missing", "0")
	ends(t, exit.Usage, "keeps all columns", "plan", path, "--auto-exclude", "-o", at("job.plan.json"))
}
