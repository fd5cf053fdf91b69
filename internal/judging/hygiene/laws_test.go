package hygiene

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// table is columns by name, in order, and a label, of numbers or codes.
type table struct {
	names []string
	cols  [][]float64
	label []float64
	codes bool
}

func (t *table) add(name string, at func(i int) float64) {
	col := make([]float64, len(t.label))
	for i := range col {
		col[i] = at(i)
	}
	t.names, t.cols = append(t.names, name), append(t.cols, col)
}

// lake has a column of every kind, n rows and a label of classes.
func lake(n, classes int, seed uint64) *table {
	r := rand.New(rand.NewPCG(seed, 1))
	t := &table{label: make([]float64, n)}
	for i := range t.label {
		t.label[i] = float64(r.IntN(classes))
	}
	order := r.Perm(n)
	t.add("plain", func(int) float64 { return r.NormFloat64() })
	t.add("customer", func(i int) float64 { return float64(1000 + order[i]) })
	t.add("hash", func(int) float64 { return float64(r.Uint64() >> 11) })
	t.add("visitor", func(i int) float64 { return float64(5e9 + 7777*float64(order[i]-order[i]%50/49)) })
	t.add("rising", func(i int) float64 { return float64(3 * i) })
	t.add("seconds", func(i int) float64 { return float64(1.7e9) + float64(r.IntN(1e6)) })
	t.add("day", func(i int) float64 { return 20240000 + float64(100*(1+r.IntN(12))+1+r.IntN(28)) })
	t.add("count", func(int) float64 { return float64(r.IntN(40)) })
	t.add("sensor", func(int) float64 { return math.Round(30000 * r.NormFloat64()) })
	t.add("copy", func(i int) float64 { return t.cols[0][i] })
	t.add("almost", func(i int) float64 {
		if i == n-1 {
			return math.Nextafter(t.cols[0][i], 9)
		}
		return t.cols[0][i]
	})
	t.add("permuted", func(i int) float64 { return t.cols[0][order[i]] })
	t.add("empty", func(i int) float64 {
		if i%5 < 3 {
			return math.NaN()
		}
		return r.NormFloat64()
	})
	t.add("constant", func(i int) float64 {
		if i%3 == 0 {
			return math.NaN()
		}
		return 7
	})
	t.add("score", func(i int) float64 { return t.label[i] + 0.05*r.NormFloat64() })
	t.add("rounded", func(i int) float64 { return t.label[i]*t.label[i]*t.label[i] + 0.4*r.Float64() })
	t.add("weak", func(i int) float64 { return t.label[i] + r.NormFloat64() })
	t.add("zeros", func(i int) float64 { return max(0, math.Floor(r.NormFloat64())) })
	t.add("zeros copy", func(i int) float64 { return t.cols[len(t.cols)-1][i] })
	return t
}

func (t *table) chunk(from, to int) *stream.Chunk {
	n := to - from
	c := &stream.Chunk{Start: int64(from), Block: n, Rows: n, Cols: len(t.cols), Stride: n, Target: t.label[from:to], TargetCodes: t.codes, Missing: make([]stream.MissingCount, len(t.cols))}
	for j, col := range t.cols {
		c.Data = append(c.Data, col[from:to]...)
		for _, x := range col[from:to] {
			if x != x {
				c.Missing[j].Nulls++
			}
		}
	}
	return c
}

// gathered is facts and profile of rows.
type gathered struct {
	facts   *Facts
	profile *gram.Profile
}

func (t *table) empty() gathered {
	return gathered{New(len(t.cols), 2, true), gram.NewProfile(len(t.cols))}
}

func (t *table) gather(tb testing.TB, from, to, height int) gathered {
	tb.Helper()
	g := t.empty()
	for ; from < to; from += height {
		c := t.chunk(from, min(from+height, to))
		must.Do(tb, g.facts.Add(c))
		must.Do(tb, g.profile.Add(c))
	}
	return g
}

func (g gathered) merge(tb testing.TB, o gathered) {
	tb.Helper()
	must.Do(tb, g.facts.Merge(o.facts))
	must.Do(tb, g.profile.Merge(o.profile))
}

// say lists the suspects as text, leaks without their figures.
func (t *table) say(g gathered) []string {
	kinds := []string{"sparse", "time", "id", "leak", "copy"}
	var list []string
	for _, s := range g.facts.FindSuspects(g.profile, nil, 0.5) {
		text := t.names[s.Column] + " " + kinds[s.Kind]
		switch s.Kind {
		case Copy:
			text += " of " + t.names[s.Original]
		case Time:
			text += " " + s.Evidence
		}
		list = append(list, text)
	}
	return list
}

var lakeSuspects = []string{
	"customer id", "hash id", "visitor id", "rising id", "seconds time seconds since 1970", "day time dates as YYYYMMDD",
	"copy copy of plain", "empty sparse", "score leak", "rounded leak", "zeros copy copy of zeros",
}

// TestSuspectsOfALake: any chunks and any shards, merged in any order, give the same suspects.
func TestSuspectsOfALake(t *testing.T) {
	for _, tab := range []*table{lake(6000, 3, 1), lake(6000, 3, 1).coded()} {
		tellsTheSame(t, tab)
	}
}

func tellsTheSame(t *testing.T, tab *table) {
	n := len(tab.label)
	for _, height := range []int{1, 63, 64, 65, 1000, n} {
		if got := tab.say(tab.gather(t, 0, n, height)); !slices.Equal(got, lakeSuspects) {
			t.Errorf("chunks of %d rows: %q", height, got)
		}
	}
	for _, cuts := range [][]int{{0, 3000, n}, {0, 1, 700, 5000, n}, {0, 500, 500, n - 1, n}} {
		var parts []gathered
		for k := range cuts[1:] {
			parts = append(parts, tab.gather(t, cuts[k], cuts[k+1], 256))
		}
		all := tab.empty()
		for _, p := range parts {
			all.merge(t, p)
		}
		if got := tab.say(all); !slices.Equal(got, lakeSuspects) {
			t.Errorf("shards %v: %q", cuts, got)
		}
		back := tab.empty()
		for k := range parts {
			must.Do(t, back.facts.Merge(parts[len(parts)-1-k].facts))
		}
		if got := tab.say(gathered{back.facts, all.profile}); !slices.Equal(got, lakeSuspects) {
			t.Errorf("shards %v from the end: %q", cuts, got)
		}
	}
}

// TestReorder: facts whose columns are moved are the facts of the moved columns, to the bit.
func TestReorder(t *testing.T) {
	for _, tab := range []*table{lake(3000, 3, 1), lake(3000, 3, 1).coded()} {
		order := rand.New(rand.NewPCG(5, 5)).Perm(len(tab.cols))
		moved := &table{label: tab.label, codes: tab.codes}
		for _, from := range order {
			moved.names, moved.cols = append(moved.names, tab.names[from]), append(moved.cols, tab.cols[from])
		}
		got, want := tab.gather(t, 0, 3000, 500).facts, moved.gather(t, 0, 3000, 500).facts
		got.Reorder(order)
		var a, b bytes.Buffer
		must.Get(got.WriteTo(&a))(t)
		must.Get(want.WriteTo(&b))(t)
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("codes %t, order %v: the moved facts differ from the facts of the moved columns", tab.codes, order)
		}
	}
}

// TestLabelIsThatOfTheRows: η² and the correlation against the columns in memory, from shards about other
// pilots. Up to 2,048 rows all count.
func TestLabelIsThatOfTheRows(t *testing.T) {
	const n = 2000
	for trial, classes := range []int{2, 5, maxClasses, maxClasses + 1, 700, 2, 5, maxClasses, maxClasses + 1, 700} {
		tab := lake(n, classes, 5)
		if trial >= 5 {
			tab = tab.coded()
		}
		g := tab.gather(t, 0, 900, 128)
		g.merge(t, tab.gather(t, 900, n, 77))
		for j, col := range tab.cols {
			c, within, found := tab.spreads(col)
			if c.spread(c.xx, c.x, c.x) == 0 {
				continue
			}
			eta := 1 - within/c.spread(c.xx, c.x, c.x)*(c.n-1)/(c.n-found)
			r := c.spread(c.xy, c.x, c.y) / math.Sqrt(c.spread(c.xx, c.x, c.x)*c.spread(c.yy, c.y, c.y))
			got := g.facts.label.describeLeak(j)
			want := eta >= leakShare
			if classes > maxClasses {
				want = r*r >= leakShare
			}
			// Few rows of a class, and ranges apart, are other tests'.
			if apart := got == "thresholds separate its classes"; !apart && c.n >= minOfClass*found && want != (got != "") {
				t.Errorf("%d classes, %s: %q, η² %v, r %v", classes, tab.names[j], got, eta, r)
			}
		}
	}
}

// spreads is the sums of a column and the label, the squares within the label's classes, and how many these are.
func (t *table) spreads(col []float64) (all corr, within, classes float64) {
	by := map[float64]*corr{}
	for i, x := range col {
		if x == x {
			all.add(x, t.label[i])
			if by[t.label[i]] == nil {
				by[t.label[i]] = new(corr)
			}
			by[t.label[i]].add(x, 0)
		}
	}
	for _, one := range by {
		within += one.spread(one.xx, one.x, one.x)
	}
	return all, within, float64(len(by))
}

type corr struct{ n, x, y, xx, yy, xy float64 }

func (c *corr) add(x, y float64) {
	c.n, c.x, c.y, c.xx, c.yy, c.xy = c.n+1, c.x+x, c.y+y, c.xx+x*x, c.yy+y*y, c.xy+x*y
}

func (c *corr) spread(xy, x, y float64) float64 { return xy - x*y/c.n }

// TestFactsAreReadAsTheyWereWritten, and go on from there.
func TestFactsAreReadAsTheyWereWritten(t *testing.T) {
	for _, tab := range []*table{lake(900, 2, 6), lake(900, maxClasses+1, 6), lake(900, 2, 6).coded(), lake(900, maxClasses+1, 6).coded()} {
		var form, again bytes.Buffer
		half := tab.gather(t, 0, 450, 90)
		must.Get(half.facts.WriteTo(&form))(t)
		got := New(len(tab.cols), 2, true)
		must.Get(got.ReadFrom(bytes.NewReader(form.Bytes())))(t)
		must.Get(got.WriteTo(&again))(t)
		if !bytes.Equal(form.Bytes(), again.Bytes()) {
			t.Fatal("written again, facts have other bytes")
		}
		c := tab.chunk(450, 900)
		must.Do(t, got.Add(c))
		must.Do(t, half.facts.Add(c))
		must.Do(t, half.profile.Add(c))
		if a, b := tab.say(half), tab.say(gathered{got, half.profile}); !slices.Equal(a, b) {
			t.Errorf("%q, read back %q", a, b)
		}
		short := New(len(tab.cols), 2, true)
		for n := range form.Len() - 1 {
			if n%long.CountCases(171, 17) == 0 {
				if _, err := short.ReadFrom(bytes.NewReader(form.Bytes()[:n])); err == nil || short.rows != 0 {
					t.Fatalf("%d bytes: %v, %d rows", n, err, short.rows)
				}
			}
		}
	}
}

// TestFactsAreTheSameBytes, in whatever chunks the rows came, and wherever they were written and read back on the way.
func TestFactsAreTheSameBytes(t *testing.T) {
	for _, tab := range []*table{lake(900, 2, 6), lake(900, 2, 6).coded()} {
		write := func(f *Facts) []byte {
			var form bytes.Buffer
			must.Get(f.WriteTo(&form))(t)
			return form.Bytes()
		}
		want := write(tab.gather(t, 0, 900, 900).facts)
		for _, height := range []int{1, 7, 64, 450} {
			if !bytes.Equal(write(tab.gather(t, 0, 900, height).facts), want) {
				t.Errorf("in chunks of %d rows: other bytes", height)
			}
		}
		for _, at := range []int{1, 40, 450, 899} {
			on := New(len(tab.cols), 2, true)
			must.Get(on.ReadFrom(bytes.NewReader(write(tab.gather(t, 0, at, 7).facts))))(t)
			for from := at; from < 900; from += 50 {
				must.Do(t, on.Add(tab.chunk(from, min(from+50, 900))))
			}
			if !bytes.Equal(write(on), want) {
				t.Errorf("gone on with at row %d: other bytes", at)
			}
		}
	}
}

func FuzzReadFrom(f *testing.F) {
	tab := lake(300, 3, 7)
	for _, to := range []int{0, 5, 300} {
		var form bytes.Buffer
		must.Get(tab.gather(f, 0, to, 64).facts.WriteTo(&form))(f)
		f.Add(form.Bytes())
	}
	f.Fuzz(func(t *testing.T, form []byte) {
		g := New(len(tab.cols), 1, true)
		if _, err := g.ReadFrom(bytes.NewReader(form)); err != nil {
			return
		}
		var again bytes.Buffer
		must.Get(g.WriteTo(&again))(t)
		must.Do(t, g.Merge(g))
		g.FindSuspects(gram.NewProfile(len(tab.cols)), nil, 0.5)
	})
}

// TestLayout: facts take the memory of their layout, and no more. The label has nearly the largest number of sums by
// class, and as many columns as possible have a sketch, because they count the rows.
func TestLayout(t *testing.T) {
	const rows, d, classes = 500, 3000, 10
	c := &stream.Chunk{Rows: rows, Block: rows, Cols: d, Stride: rows, Data: make([]float64, d*rows), Target: make([]float64, rows)}
	for i := range rows {
		c.Target[i] = float64(i % classes)
		for j := range d {
			if c.Data[j*rows+i] = float64(i%7) + float64(j)/d; j < maxSketched {
				c.Data[j*rows+i] = float64(i + j)
			}
		}
	}
	roomtest.CheckLayout(t, "facts", FactsBytes(d, true), func() { must.Do(t, New(d, 1, true).Add(c)) })
}
