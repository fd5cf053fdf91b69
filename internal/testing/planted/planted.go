// Package planted generates a table with a known right selection. The table has a few hidden factors and, for each
// factor, a group of redundant columns. It also has mixtures, noise and constants. Names and order of the columns are
// meaningless.
//
//  1. Factor f is an independent random series. Its group has Factors+2-f columns, so that the first group is the
//     largest and the last has 3 columns. Each column of a group is the factor plus a little noise, in a unit of its
//     own.
//  2. For factors 1 and 2, 3 and 4, … one column is a mixture of both factors, with more noise.
//  3. The other columns are independent noise of low variance, or constant.
//
// On standardized columns greedy selection scores a column by the sum of its squared correlations with all columns. For
// a column of a group this is about the size of the group, and for noise about 1. For a mixture it is 0.37 times the
// sizes of both groups plus 1. Once a column of one of these groups is selected, the mixture's score is below the score
// of the other group's columns, because the mixture has noise. So greedy selects one column of each group, the largest
// group first, before any other column. This needs enough rows (about 500) for chance correlations to be negligible.
//
// With C classes, the first C-1 factors depend on the class of the row. Each of them is 0.89 times a Walsh function of
// the class, which is ±1, plus 0.45 times its own series. So the classes are clusters. Any two classes differ in half
// of these factors: in each of them by 4 standard deviations of the part that is the factor's own series. The factors
// remain uncorrelated, and the right selection is the same.
//
// Every value is a hash of seed, series and row. So any block of rows can be generated independently; nothing is
// stored.
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

// Table is a planted table. It implements stream.Source, and several goroutines may read it any number of times.
type Table struct {
	opt     Options
	columns []column
	names   []stream.Column
}

// column has the values offset + scale·(weight·sum of its factors + noise·its own series).
type column struct {
	factors       []int
	weight, noise float64
	offset, scale float64
	series        uint64
}

const (
	copyNoise    = 0.1 // noise of a group's column; then the squared correlation of two columns of a group is 0.98
	mixtureNoise = 0.6 // noise of a mixture; then its squared correlation with each of its two factors is 0.37
)

// Weights of the Walsh function and of the own series in a factor that depends on the classes: √0.8 and √0.2, for a
// variance of 1.
const (
	classShare = 0.8944271909999159
	ownShare   = 0.4472135954999579
)

// New returns the table described by opt, which must be valid. It allocates O(columns) numbers.
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
	// Shuffle (Fisher, Yates), so that neither position nor name reveals a column's role.
	order := t.newSeries(orderSeries)
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

// addColumn adds c with a series of its own and a random unit: an offset with standard deviation 10 and a scale from
// 1/4 to 4, positive or negative.
func (t *Table) addColumn(c column) {
	i := int64(len(t.columns))
	c.series = firstSeries + uint64(i)
	c.offset = math.Round(10*t.newSeries(offsetSeries).Normal(i)) + 0 // no -0
	c.scale = math.Exp2(min(max(t.newSeries(scaleSeries).Normal(i), -2), 2))
	if t.newSeries(signSeries).Bits(i)&1 == 1 {
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

// Answer returns the hidden roles of the columns. A selection of len(Groups) columns is right if it contains a column
// of every group.
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

// CoveredGroups returns the number of groups that have at least one column in columns.
func (a Answer) CoveredGroups(columns []int) int {
	found := 0
	for _, g := range a.Groups {
		if slices.ContainsFunc(g, func(j int) bool { return slices.Contains(columns, j) }) {
			found++
		}
	}
	return found
}

// Columns implements stream.Source. It returns the names and types of the columns.
func (t *Table) Columns() []stream.Column { return t.names }

// Rows implements stream.Source. It returns Options.Rows.
func (t *Table) Rows() int64 { return t.opt.Rows }

// Cuts implements stream.Source. It returns the starts of the row groups and the end.
func (t *Table) Cuts() []int64 {
	var cuts []int64
	for at := int64(0); at < t.opt.Rows; at += t.opt.GroupRow {
		cuts = append(cuts, at)
	}
	return append(cuts, t.opt.Rows)
}

// Chunks implements stream.Source. Blocks begin at row groups, as in files. r may begin and end at any row.
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

// FillColumn writes len(out) values of column j to out. The parameter `from` is the number of the first row. Several
// goroutines may call it.
func (t *Table) FillColumn(j int, from int64, out []float64) {
	col := &t.columns[j]
	clear(out)
	for _, f := range col.factors {
		t.addFactor(f, col.weight, from, out)
	}
	if col.noise > 0 {
		own := t.newSeries(col.series)
		for i := range out {
			out[i] += float64(col.noise * own.Normal(from+int64(i)))
		}
	}
	for i := range out {
		out[i] = col.offset + float64(col.scale*out[i]) // the conversion prevents fused operations, which round differently
	}
}

func (t *Table) addFactor(factor int, weight float64, from int64, out []float64) {
	own := t.newSeries(uint64(factor))
	if factor+1 >= t.opt.Classes {
		for i := range out {
			out[i] += float64(weight * own.Normal(from+int64(i)))
		}
		return
	}
	for i := range out {
		row := from + int64(i)
		// The Walsh function f+1 of the class is the sign of a parity. Each Walsh function, and the product of any two,
		// sums to 0 over the classes.
		sign := float64(1 - 2*(bits.OnesCount(uint(t.Class(row)&(factor+1)))&1))
		out[i] += float64(weight * (float64(classShare*sign) + float64(ownShare*own.Normal(row))))
	}
}

// Factors returns the number of hidden factors.
func (t *Table) Factors() int { return t.opt.Factors }

// Classes returns the number of classes, or 0.
func (t *Table) Classes() int { return t.opt.Classes }

// Class returns the class of a row, from 0 to Classes-1, or 0 if there are no classes.
func (t *Table) Class(row int64) int {
	return int(t.newSeries(classSeries).Bits(row)) & max(t.opt.Classes-1, 0)
}

// Part is a source of some consecutive rows of another source, like one file of a table. The rows keep their positions.
type Part struct {
	stream.Source
	Range stream.Range
}

// Rows implements stream.Source. It returns the number of rows of the part.
func (p Part) Rows() int64 { return p.Range.To - p.Range.From }

// Chunks implements stream.Source. It always returns all rows of the part.
func (p Part) Chunks(ctx context.Context, _ stream.Range) iter.Seq2[*stream.Chunk, error] {
	return p.Source.Chunks(ctx, p.Range)
}
