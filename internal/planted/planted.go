// Package planted generates a table with a known right selection: a few hidden factors, each with a group of redundant
// columns, and also mixtures, noise and constants. The columns have meaningless names and random order.
//
//  1. Factor f is an independent random series. Its group has Factors+2-f columns (the first the most, the last 3),
//     each the factor with a little noise of its own, in units of its own.
//  2. For factors 1 and 2, 3 and 4, … there is one mixture of both with more noise.
//  3. The other columns are independent noise of low variance, or constant.
//
// On standardized columns greedy selection scores a column by the sum of its squared correlations with all columns.
// This is about the size of its group, and about 1 for noise. For a mixture it is 0.37 of both its groups plus 1; when
// one of its groups is covered, its noise keeps it below the other group. So greedy selects one column of each group,
// largest group first, before any other column, if there are enough rows (about 500) for chance correlations to be
// negligible.
//
// With C classes, each of the first C-1 factors is 0.89 of a Walsh function of the row's class, ±1, and 0.45 of its own
// series: the classes are clusters, 4 deviations apart in every factor in which they differ (half of the factors). The
// factors remain uncorrelated, so that the right selection is the same.
//
// Every value is a hash of seed, series and row. Any block can be generated independently, and nothing is stored.
package planted

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Table is a planted table. It implements stream.Source, may be read any number of times and from several goroutines.
type Table struct {
	opt     Options
	columns []column
	names   []stream.Column
}

// column is offset + scale·(factors·weight + noise·own series).
type column struct {
	factors       []int
	weight, noise float64
	offset, scale float64
	series        uint64
}

const (
	copyNoise    = 0.1 // noise of a group's column, whose squared correlation with the other columns of the group is 0.98
	mixtureNoise = 0.6 // noise of a mixture, whose squared correlation with either factor is 0.37
)

// Weights of the two terms of a factor that depends on the classes: √0.8 and √0.2, for a variance of 1.
const (
	classShare = 0.8944271909999159
	ownShare   = 0.4472135954999579
)

// New returns the table described by opt, which must be valid. It allocates memory for O(columns) numbers.
func New(opt Options) *Table {
	if err := opt.Validate(); err != nil {
		panic(err)
	}
	t := &Table{opt: opt.withDefaults()}
	for f := range t.opt.Factors {
		for range t.opt.Factors + 2 - f {
			t.addColumn(column{factors: []int{f}, weight: 1, noise: copyNoise})
		}
		if f%2 == 1 {
			t.addColumn(column{factors: []int{f - 1, f}, weight: math.Sqrt2 / 2, noise: mixtureNoise})
		}
	}
	for range t.opt.Noise {
		t.addColumn(column{noise: 0.01})
	}
	for range t.opt.Constant {
		t.addColumn(column{})
	}
	// Shuffle (Fisher, Yates) so that neither order nor name reveals a column's role.
	order := t.seedSeries(orderSeries)
	for i := len(t.columns) - 1; i > 0; i-- {
		j := order.Bits(int64(i)) % uint64(i+1)
		t.columns[i], t.columns[j] = t.columns[j], t.columns[i]
	}
	t.names = make([]stream.Column, len(t.columns))
	digits := max(3, len(strconv.Itoa(len(t.names)-1)))
	for j := range t.names {
		t.names[j] = stream.Column{Name: fmt.Sprintf("x%0*d", digits, j), Type: "double"}
	}
	return t
}

// addColumn adds c with its own series and unit: an offset within ±10 and a scale from 1/4 to 4, positive or negative.
func (t *Table) addColumn(c column) {
	i := int64(len(t.columns))
	c.series = firstSeries + uint64(i)
	c.offset = math.Round(10*t.seedSeries(offsetSeries).Normal(i)) + 0 // no -0
	c.scale = math.Exp2(min(max(t.seedSeries(scaleSeries).Normal(i), -2), 2))
	if t.seedSeries(signSeries).Bits(i)&1 == 1 {
		c.scale = -c.scale
	}
	t.columns = append(t.columns, c)
}

// Answer lists the columns by their hidden roles, as ascending column indices.
type Answer struct {
	Groups   [][]int // the columns of each factor, the largest group first
	Mixtures []int
	Noise    []int
	Constant []int
}

// Answer returns the hidden roles of the columns. A selection of len(Groups) columns is right if it has a column of
// every group.
func (t *Table) Answer() Answer {
	a := Answer{Groups: make([][]int, t.opt.Factors)}
	for j, c := range t.columns {
		switch {
		case len(c.factors) == 1:
			a.Groups[c.factors[0]] = append(a.Groups[c.factors[0]], j)
		case len(c.factors) == 2:
			a.Mixtures = append(a.Mixtures, j)
		case c.noise > 0:
			a.Noise = append(a.Noise, j)
		default:
			a.Constant = append(a.Constant, j)
		}
	}
	return a
}

// CoveredGroups returns the number of groups that have at least one of the columns.
func (a Answer) CoveredGroups(columns []int) int {
	found := 0
	for _, g := range a.Groups {
		if slices.ContainsFunc(g, func(j int) bool { return slices.Contains(columns, j) }) {
			found++
		}
	}
	return found
}

// Columns implements stream.Source.
func (t *Table) Columns() []stream.Column { return t.names }

// Rows implements stream.Source.
func (t *Table) Rows() int64 { return t.opt.Rows }

// Cuts implements stream.Source. It returns the starts of the row groups and the end.
func (t *Table) Cuts() []int64 {
	var cuts []int64
	for at := int64(0); at < t.opt.Rows; at += t.opt.GroupRow {
		cuts = append(cuts, at)
	}
	return append(cuts, t.opt.Rows)
}

// Chunks implements stream.Source. Blocks start at row-group starts, as in files; the two ends of r may be any rows.
func (t *Table) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	if r.All() {
		r.To = t.opt.Rows
	}
	return func(yield func(*stream.Chunk, error) bool) {
		if r.From < 0 || r.From > r.To || r.To > t.opt.Rows {
			yield(nil, fmt.Errorf("planted: rows %v of %d", r, t.opt.Rows))
			return
		}
		height := int64(stream.BlockRows(len(t.columns)))
		data := make([]float64, len(t.columns)*int(min(height, t.opt.GroupRow, t.opt.Rows)))
		for from := r.From; from < r.To; {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			group := from - from%t.opt.GroupRow
			block := from + height - (from-group)%height
			to := min(r.To, group+t.opt.GroupRow, block)
			if !yield(t.makeChunk(from, to, data), nil) {
				return
			}
			from = to
		}
	}
}

func (t *Table) makeChunk(from, to int64, data []float64) *stream.Chunk {
	n := int(to - from)
	c := &stream.Chunk{Start: from, Block: n, Rows: n, Cols: len(t.columns), Stride: n, Data: data[:n*len(t.columns)]}
	for j := range t.columns {
		t.FillColumn(j, from, c.Col(j))
	}
	return c
}

// FillColumn writes rows from, from+1, … of column j to out. Calls may run concurrently.
func (t *Table) FillColumn(j int, from int64, out []float64) {
	col := &t.columns[j]
	clear(out)
	for _, f := range col.factors {
		t.addFactor(f, col.weight, from, out)
	}
	if col.noise > 0 {
		own := t.seedSeries(col.series)
		for i := range out {
			out[i] += float64(col.noise * own.Normal(from+int64(i)))
		}
	}
	for i := range out {
		out[i] = col.offset + float64(col.scale*out[i]) // the conversion prevents fused operations, which round differently
	}
}

func (t *Table) addFactor(f int, weight float64, from int64, out []float64) {
	own := t.seedSeries(uint64(f))
	if f+1 >= t.opt.Classes {
		for i := range out {
			out[i] += float64(weight * own.Normal(from+int64(i)))
		}
		return
	}
	for i := range out {
		row := from + int64(i)
		// Walsh function f+1 of the class is the sign of a parity. The values of any two Walsh functions, and of their
		// product, sum to 0 over the classes.
		sign := float64(1 - 2*(bits.OnesCount(uint(t.Class(row)&(f+1)))&1))
		out[i] += float64(weight * (float64(classShare*sign) + float64(ownShare*own.Normal(row))))
	}
}

// Factors returns the number of hidden factors.
func (t *Table) Factors() int { return t.opt.Factors }

// Classes returns the number of classes, or 0.
func (t *Table) Classes() int { return t.opt.Classes }

// Class returns the class of a row, from 0 to Classes-1, or 0 if there are no classes.
func (t *Table) Class(row int64) int {
	return int(t.seedSeries(classSeries).Bits(row)) & max(t.opt.Classes-1, 0)
}
