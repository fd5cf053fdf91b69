package ufs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// relatives are columns of three factors far from 0, a copy, a sum, noise and a constant.
func relatives(seed uint64) columns {
	random := rand.New(rand.NewPCG(seed, 11))
	const n = 500
	c := columns{}
	add := func(name string, f func(i int) float64) {
		column := make([]float64, n)
		for i := range column {
			column[i] = f(i)
		}
		c.Names, c.Cols = append(c.Names, name), append(c.Cols, column)
	}
	for g, size := range []int{5, 4, 3} {
		factor := make([]float64, n)
		for i := range factor {
			factor[i] = random.NormFloat64()
		}
		for k := range size {
			scale := math.Exp(random.NormFloat64())
			add(fmt.Sprintf("%c%d", 'f'+g, k), func(i int) float64 { return 100 + scale*(factor[i]+0.3*random.NormFloat64()) })
		}
	}
	add("noise", func(int) float64 { return random.NormFloat64() })
	add("copy", func(i int) float64 { return 32 + 1.8*c.Cols[0][i] })
	add("total", func(i int) float64 { return c.Cols[1][i] + c.Cols[6][i] + c.Cols[11][i] })
	add("flat", func(int) float64 { return 3 })
	return c
}

// centred is a column less its mean, and its standard deviation.
func (c columns) centred(name string) (*mat.VecDense, float64, float64) {
	v := mat.NewVecDense(len(c.Cols[0]), slices.Clone(c.Cols[slices.Index(c.Names, name)]))
	mean := mat.Sum(v) / float64(v.Len())
	for i := range v.Len() {
		v.SetVec(i, v.AtVec(i)-mean)
	}
	return v, mean, mat.Norm(v, 2) / math.Sqrt(float64(v.Len()))
}

// twinOf is the regression of a column on others with a constant, by QR of the rows.
func (c columns) twinOf(t *testing.T, name string, others []string) (weights []float64, constant, r2 float64) {
	t.Helper()
	y, mean, _ := c.centred(name)
	a := mat.NewDense(y.Len(), len(others), nil)
	means := make([]float64, len(others))
	for k, o := range others {
		v, m, _ := c.centred(o)
		means[k] = m
		a.SetCol(k, v.RawVector().Data)
	}
	var qr mat.QR
	qr.Factorize(a)
	var w, rest mat.VecDense
	must.Do(t, qr.SolveVecTo(&w, false, y))
	rest.MulVec(a, &w)
	rest.SubVec(y, &rest)
	constant = mean
	for k := range others {
		constant -= w.AtVec(k) * means[k]
	}
	return w.RawVector().Data, constant, 1 - mat.Dot(&rest, &rest)/mat.Dot(y, y)
}

// plainJSON is a result without the values that differ from run to run.
func plainJSON(t *testing.T, v any) string {
	t.Helper()
	var m map[string]any
	must.Do(t, json.Unmarshal(must.Get(json.Marshal(v))(t), &m))
	for _, key := range []string{"timing", "memory", "passes", "inputs"} {
		delete(m, key)
	}
	if of, there := m["correlations"].(map[string]any); there {
		delete(of, "passes")
		delete(of, "inputs")
	}
	return string(must.Get(json.MarshalIndent(m, "", " "))(t))
}

// TestExplainIsLeastSquares: weights, constants, R², VIF and residuals are those of the rows themselves, for kept and
// dropped columns.
func TestExplainIsLeastSquares(t *testing.T) {
	c := relatives(1)
	path := c.write(t)
	s := selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 4}})
	chosen := namesChosen(s)
	asked := []string{"f1", "g0", "noise", "total", chosen[0], chosen[2]}
	x := must.Get(Explain(t.Context(), ExplainRequest{Request: Request{Input: Input{Paths: []string{path}}}, Selection: s, Names: asked}))(t)
	for k, col := range x.Columns {
		others := slices.DeleteFunc(slices.Clone(chosen), func(n string) bool { return n == col.Name })
		if kept := len(others) < len(chosen); (col.State == StateKept) != kept || col.Name != asked[k] {
			t.Fatalf("%s is %s", col.Name, col.State)
		}
		w, constant, r2 := c.twinOf(t, col.Name, others)
		r := col.Relations
		_, mean, sd := c.centred(col.Name)
		// Rounding of 500 terms, means 100 deviations away.
		if math.Abs(float64(r.R2)-r2) > 1e-10 || math.Abs(float64(r.Constant)-constant) > 1e-8*(1+math.Abs(constant)) || r.Exact {
			t.Errorf("%s: R² %v and constant %v, want %v and %v", col.Name, r.R2, r.Constant, r2, constant)
		}
		if math.Abs(float64(r.Mean)-mean) > 1e-10*math.Abs(mean)+1e-12 || math.Abs(float64(r.Std)-sd) > 1e-10*sd || math.Abs(float64(r.Residual)-sd*math.Sqrt(1-r2)) > 1e-6*sd {
			t.Errorf("%s: mean %v, std %v, residual %v", col.Name, r.Mean, r.Std, r.Residual)
		}
		for at, term := range r.Terms {
			own := slices.Index(others, term.Name)
			_, _, by := c.centred(term.Name)
			if math.Abs(float64(term.Weight)-w[own]) > 1e-8*(1+math.Abs(w[own])) || math.Abs(float64(term.Standardized)-w[own]*by/sd) > 1e-8 {
				t.Errorf("%s: %+v, want %v", col.Name, term, w[own])
			}
			if at > 0 && math.Abs(float64(term.Standardized)) > math.Abs(float64(r.Terms[at-1].Standardized)) {
				t.Errorf("%s: %v out of order", col.Name, r.Terms)
			}
		}
		if col.State == StateKept {
			if want := 1 / (1 - r2); math.Abs(float64(*r.VIFSelected)-want) > 1e-8*want {
				t.Errorf("%s: VIF among the chosen %v, want %v", col.Name, *r.VIFSelected, want)
			}
		}
		if determined := col.Name == "f1" || col.Name == "total"; determined != r.Determined && !slices.Contains([]string{"copy", "f0", "g1", "h2"}, col.Name) {
			t.Errorf("%s: determined %t", col.Name, r.Determined)
		}
	}
	// A column that takes part in nothing: all others but those that are redundant.
	rest := slices.DeleteFunc(slices.Clone(c.Names), func(n string) bool { return slices.Contains([]string{"noise", "copy", "total", "flat"}, n) })
	_, _, r2 := c.twinOf(t, "noise", rest)
	if got := float64(x.Columns[2].Relations.VIF); math.Abs(got-1/(1-r2)) > 1e-8*got {
		t.Errorf("VIF of noise %v, want %v", got, 1/(1-r2))
	}
}

func namesChosen(s *stream.Selection) (names []string) {
	for _, f := range s.Selected {
		names = append(names, f.Name)
	}
	return names
}

// TestExplainSaysWhatTakesPart: the copy and the sum are equations in the columns' own units.
func TestExplainSaysWhatTakesPart(t *testing.T) {
	c := relatives(2)
	path := c.write(t)
	s := selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 3}})
	x := must.Get(Explain(t.Context(), ExplainRequest{Request: Request{Input: Input{Paths: []string{path}}}, Selection: s, Names: []string{"f0", "copy", "f1", "noise", "flat"}}))(t)
	of := func(k int) []LinearCombination { return x.Columns[k].Relations.Combinations }
	// The first by name stands for its copies.
	for k := range 2 {
		l := of(k)
		if len(l) != 1 || l[0].Name != "f0" || l[0].Terms[0].Name != "copy" || math.Abs(float64(l[0].Terms[0].Weight)-1/1.8) > 1e-9 || math.Abs(float64(l[0].Constant)+32/1.8) > 1e-6 {
			t.Errorf("%s: combinations %+v, want one: f0 is copy/1.8 − 32/1.8", x.Columns[k].Name, l)
		}
	}
	l := of(2)
	if len(l) != 1 || len(l[0].Terms) != 3 || l[0].Left > l[0].Bound {
		t.Fatalf("f1: combinations %+v, want one of three terms with Left up to its tolerance", l)
	}
	var parts []string
	for _, term := range l[0].Terms {
		parts = append(parts, term.Name)
		if want := map[bool]float64{true: -1, false: 1}[l[0].Name != "total" && term.Name != "total"]; math.Abs(float64(term.Weight)-want) > 1e-6 {
			t.Errorf("f1: combination %+v: the weight of %s is %v, want %v", l[0], term.Name, term.Weight, want)
		}
	}
	if all := slices.Sorted(slices.Values(append(parts, l[0].Name))); !slices.Equal(all, []string{"f1", "g1", "h2", "total"}) {
		t.Errorf("f1: of %v", all)
	}
	if x.Columns[4].State != StateLeftOut || x.Columns[4].Why == "" || x.Columns[4].Relations != nil {
		t.Errorf("flat: %+v", x.Columns[4])
	}
}

// TestCorrelationsFromStatistics: explanations and redundancy are the same, to the bit, from the data and from its
// statistics, for any number of threads, and but for the order of columns in either.
func TestCorrelationsFromStatistics(t *testing.T) {
	c := relatives(3).holes(17)
	path, stats := c.write(t), filepath.Join(t.TempDir(), "all.ufs")
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Paths: []string{path}}, Columns: Columns{Missing: "mean"}, Output: stats}}))(t)
	s := selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 4}, Columns: Columns{Missing: "mean"}})
	var redundant, explained string
	for _, q := range []Request{{Input: Input{Paths: []string{path}}, Columns: Columns{Missing: "mean"}}, {Stats: stats}, {Stats: stats, Limits: Limits{Threads: 1}}, {Input: Input{Paths: []string{path}}, Columns: Columns{Missing: "mean"}, Limits: Limits{Threads: 8}}} {
		r := plainJSON(t, must.Get(Redundancy(t.Context(), RedundancyRequest{Request: q, Threshold: 0.8}))(t))
		x := plainJSON(t, must.Get(Explain(t.Context(), ExplainRequest{Request: q, Selection: s, Names: []string{"f1", "total", "noise"}}))(t))
		if redundant == "" {
			redundant, explained = r, x
		}
		same(t, r, redundant)
		same(t, x, explained)
	}
	for seed := range uint64(2) {
		order := rand.New(rand.NewPCG(seed, 5)).Perm(len(c.Names))
		moved := columns{}
		for _, j := range order {
			moved.Names, moved.Cols = append(moved.Names, c.Names[j]), append(moved.Cols, c.Cols[j])
		}
		r := must.Get(Redundancy(t.Context(), RedundancyRequest{Request: Request{Input: Input{Paths: []string{moved.write(t)}}, Columns: Columns{Missing: "mean"}}, Threshold: 0.8}))(t)
		slices.SortFunc(r.LeftOut, func(a, b stream.LeftOut) int { return strings.Compare(b.Name, a.Name) }) // which are in the order of the table
		for i, l := range r.LeftOut {                                                                        // they have moved
			at := stream.PositionAt(slices.Index(moved.Names, l.Name))
			if l.Column != at {
				t.Errorf("%s stands at %v, want %v", l.Name, l.Column, at)
			}
			r.LeftOut[i].Column = stream.PositionAt(slices.Index(c.Names, l.Name))
		}
		same(t, plainJSON(t, r), redundant)
	}
}

// TestRedundancyFindsWhatIsPlanted: the factors are clusters, with the copy; the sum and the copy are named, and no pair
// of those kept is above the threshold.
func TestRedundancyFindsWhatIsPlanted(t *testing.T) {
	c := relatives(4)
	r := must.Get(Redundancy(t.Context(), RedundancyRequest{Request: Request{Input: Input{Paths: []string{c.write(t)}}}}))(t)
	if r.Features != 15 || r.Rank != 13 || len(r.Duplicates) != 1 || r.Duplicates[0].Name != "copy" || len(r.Combinations) != 1 || len(r.LeftOut) != 1 {
		t.Errorf("%d features of rank %d, duplicates %+v, combinations %+v, left out %v", r.Features, r.Rank, r.Duplicates, r.Combinations, r.LeftOut)
	}
	for _, cl := range r.Clusters {
		first := map[byte]bool{}
		for _, col := range cl.Columns {
			letter := col.Name[0]
			if col.Name == "copy" {
				letter = 'f'
			}
			if col.Name != "total" {
				first[letter] = true
			}
			if vif := float64(col.VIF); col.Exact != math.IsInf(vif, 1) || vif < 1 {
				t.Errorf("column %+v: want a VIF of 1 or more that is infinite if and only if the column is determined", col)
			}
		}
		if len(first) > 1 {
			t.Errorf("cluster %+v", cl)
		}
	}
	for _, d := range r.Dropped {
		a, _, sa := c.centred(d.Name)
		b, _, sb := c.centred(d.For)
		if rho := mat.Dot(a, b) / (sa * sb * float64(a.Len())); math.Abs(rho-float64(d.Correlation)) > 1e-10 || math.Abs(rho) <= DefaultThreshold || !slices.Contains(r.Kept, d.For) {
			t.Errorf("%+v, want %v", d, rho)
		}
	}
	for i, name := range r.Kept {
		for _, other := range r.Kept[:i] {
			a, _, sa := c.centred(name)
			b, _, sb := c.centred(other)
			if rho := mat.Dot(a, b) / (sa * sb * float64(a.Len())); math.Abs(rho) > DefaultThreshold+1e-10 {
				t.Errorf("%s and %s are kept, of %v", name, other, rho)
			}
		}
	}
}

// TestExplainWithoutData: the selection's own record is the same with data and without, with advice how to get
// the rest.
func TestExplainWithoutData(t *testing.T) {
	path := relatives(5).write(t)
	s := selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 4}})
	var b bytes.Buffer
	must.Do(t, s.Encode(&b))
	s = must.Get(stream.DecodeSelection(&b))(t)
	asked := append(namesChosen(s), "noise", "g0", "flat")
	alone := must.Get(Explain(t.Context(), ExplainRequest{Selection: s, Names: asked}))(t)
	with := must.Get(Explain(t.Context(), ExplainRequest{Request: Request{Input: Input{Paths: []string{path}}}, Selection: s, Names: asked}))(t)
	if alone.More == "" || alone.Data != nil || with.More != "" || with.Data == nil {
		t.Errorf("more %q and %q", alone.More, with.More)
	}
	stands, added := 0, 0.0
	for k, col := range with.Columns {
		if (col.Relations == nil) != (col.Name == "flat") {
			t.Errorf("%s: relations %v", col.Name, col.Relations)
		}
		if col.Relations = nil; !reflect.DeepEqual(col, alone.Columns[k]) {
			t.Errorf("%+v, want %+v", col, alone.Columns[k])
		}
		stands += len(col.StandsFor)
		if col.Added != nil {
			added += float64(*col.Added)
		}
	}
	if want := 1 - float64(s.Selected[3].Error); math.Abs(added-want) > 1e-12 || stands != s.Features-4 {
		t.Errorf("added %v, want %v; they stand for %d of %d", added, want, stands, s.Features-4)
	}
}

// TestExplainRefuses: nothing to explain, names that nobody knows, data without the columns.
func TestExplainRefuses(t *testing.T) {
	path := relatives(6).write(t)
	s := selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 3}})
	for says, o := range map[string]ExplainRequest{
		"no selection":                {Names: []string{"f0"}},
		"no column":                   {Selection: s},
		`"nose"; did you mean noise?`: {Selection: s, Names: []string{"nose"}},
		`"f_99"`:                      {Selection: s, Names: []string{"f_99"}, Request: Request{Input: Input{Paths: []string{path}}}},
	} {
		if _, err := Explain(t.Context(), o); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want a usage error with %q", err, says)
		}
	}
	bare := *s
	bare.Columns = nil
	if _, err := Explain(t.Context(), ExplainRequest{Selection: &bare, Names: []string{"noise"}}); err == nil || !strings.Contains(err.Error(), "reports") {
		t.Errorf("without reports: %v", err)
	}
	other := relatives(7).rename("x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11")
	x := must.Get(Explain(t.Context(), ExplainRequest{Selection: s, Names: []string{"noise"}, Request: Request{Input: Input{Paths: []string{other.write(t)}}}}))(t)
	if len(x.Warnings) == 0 || !strings.Contains(strings.Join(x.Warnings, " "), "no feature of these data") {
		t.Errorf("warnings %q", x.Warnings)
	}
}

// TestRedundancyRefuses: settings that mean nothing, and more columns than fit.
func TestRedundancyRefuses(t *testing.T) {
	path := noiseFile(t, 20, 800, 1)
	for says, o := range map[string]RedundancyRequest{"threshold": {Threshold: 1}, "max-eigen": {MaxEigen: -1}, "proportion": {Proportion: 1.5}, "INPUT": {}} {
		if says != "INPUT" {
			o.Input.Paths = []string{path}
		}
		if _, err := Redundancy(t.Context(), o); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want a usage error with %q", err, says)
		}
	}
	_, err := Redundancy(t.Context(), RedundancyRequest{Request: Request{Input: Input{Paths: []string{path}}, Limits: Limits{Memory: 52 << 20}}})
	var m *stream.MemoryError
	if !errors.As(err, &m) || !strings.Contains(err.Error(), "exclude") {
		t.Fatalf("too little memory: %v", err)
	}
	must.Get(Redundancy(t.Context(), RedundancyRequest{Request: Request{Input: Input{Paths: []string{path}}, Limits: Limits{Memory: m.Need}}}))(t)
	profile := filepath.Join(t.TempDir(), "p.ufs")
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Paths: []string{path}}, Output: profile}, ProfileOnly: true}))(t)
	if _, err := Redundancy(t.Context(), RedundancyRequest{Request: Request{Stats: profile}}); !errors.As(err, new(*stream.UsageError)) {
		t.Errorf("a profile: %v", err)
	}
}

// TestCorrelationsOfRanks: statistics of scale rank have the correlations of normal scores, which have no units.
func TestCorrelationsOfRanks(t *testing.T) {
	c := relatives(8)
	for i, v := range c.Cols[0] { // a monotone column is a copy by its ranks alone
		c.Cols[1][i] = math.Exp((v - 100) / 10)
	}
	path := c.write(t)
	s := selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 3, Scale: "rank"}})
	x := must.Get(Explain(t.Context(), ExplainRequest{Request: Request{Input: Input{Paths: []string{path}}}, Selection: s, Names: []string{"f1"}}))(t)
	r := x.Columns[0].Relations
	if x.Data.Scale != "rank" || !r.Determined || !math.IsNaN(float64(r.Constant)) || !math.IsNaN(float64(r.Terms[0].Weight)) || math.Abs(float64(r.Nearest[0].Correlation)) < 1-1e-9 {
		t.Errorf("%+v, scale %s", r, x.Data.Scale)
	}
}
