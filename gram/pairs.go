package gram

import (
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Pair has the sums of two columns x and y over rows in which both are observed, or filled. Means are over these rows.
type Pair struct {
	Weight   float64 // Σw
	Product  float64 // Σw(x - mean)(y - mean)
	SquaresX float64 // Σw(x - mean)²
	SquaresY float64
}

// PearsonCorrelation returns Pearson's correlation, for columns in units of their spread, whose squares do not overflow. It is
// NaN if one of the columns has a single value in these rows.
func (p Pair) PearsonCorrelation() float64 {
	if !(p.SquaresX > 0 && p.SquaresY > 0) {
		return math.NaN()
	}
	return min(max(p.Product/math.Sqrt(p.SquaresX*p.SquaresY), -1), 1)
}

// PairPanel adds up the products of some columns, First ≤ i < First+Count, with the columns j ≥ From, over one pass over
// the rows. Columns are numbered among the kept columns of a [Standardizer]. So the Gram matrix of columns whose number
// is d is computed in several passes, in memory for a part of it.
//
// Rows are added in strips, each of which is the same for any chunks, so results depend on the rows only. With the
// values x of a row about their means, 0 if missing, and o = 1 for an observed entry and 0 for a missing one, a panel
// has Σw xᵢxⱼ. If Standardizer fills nothing (FillPairwise), and columns miss entries, it also has
//
//	Σw oᵢoⱼ   Σw xᵢoⱼ   Σw oᵢxⱼ   Σw xᵢ²oⱼ   Σw oᵢxⱼ²
//
// from which all sums of [Pair] follow for the rows that have both. A pass costs 2·Count·(d − From) flops a row, or six
// times as many.
type PairPanel struct {
	First, Count, From int

	std      *Standardizer
	pairwise bool
	team     *kernel.Team
	products []float64    // the sums of products, one matrix after the other
	strips   [3][]float64 // √w·x, √w·o and √w·x² of a strip, d columns of stripRows numbers
	root     []float64    // √w of the rows of the strip
	rows     int          // rows of the strip
	squares  []float64    // Σw x² of each column
	sums     []float64    // Σw x of each column: the rounding error of its mean
}

// The factors of a panel's products, as indices of its strips.
const (
	values = iota
	observed
	squaresOfValues
)

var panelFactors = [][2]int{{values, values}, {observed, observed}, {values, observed}, {observed, values}, {squaresOfValues, observed}, {observed, squaresOfValues}}

// NewPairPanel returns a panel that can have up to `area` products of pairs of columns at a time: see BeginPass.
func NewPairPanel(std *Standardizer, area int, pairwise bool, threads int) *PairPanel {
	p := &PairPanel{std: std, pairwise: pairwise, team: kernel.NewTeam(threads)}
	if pairwise {
		marking := *std
		marking.Fill = slices.Repeat([]float64{math.NaN()}, len(std.Columns))
		p.std = &marking
	}
	p.layOut(nil, len(std.Columns), area)
	return p
}

// PairPanelBytes bounds the memory of a panel of d columns.
func PairPanelBytes(d, area int, pairwise bool) int64 {
	return room.Measure(func(l *room.Layout) { (&PairPanel{pairwise: pairwise}).layOut(l, d, area) }) + bufferBytes
}

func (p *PairPanel) layOut(l *room.Layout, d, area int) {
	p.products = room.Slice[float64](l, area*len(p.listFactors()))
	p.root, p.squares, p.sums = room.Slice[float64](l, stripRows), room.Slice[float64](l, d), room.Slice[float64](l, d)
	p.strips[values] = room.Slice[float64](l, d*stripRows)
	if p.pairwise {
		p.strips[observed], p.strips[squaresOfValues] = room.Slice[float64](l, d*stripRows), room.Slice[float64](l, d*stripRows)
	}
	l.Add(kernel.TeamBytes(d, d))
}

func (p *PairPanel) listFactors() [][2]int {
	if p.pairwise {
		return panelFactors
	}
	return panelFactors[:1]
}

// BeginPass empties the panel for a pass that adds up the products of `count` columns with all columns from `from` on.
// Their number may be as large as the area of the panel.
func (p *PairPanel) BeginPass(first, count, from int) {
	p.First, p.Count, p.From, p.rows = first, count, from, 0
	clear(p.products)
	clear(p.squares)
	clear(p.sums)
}

// Add adds rows. The last ones wait until EndPass.
func (p *PairPanel) Add(c *stream.Chunk) error {
	if c.Cols != p.std.all {
		return fmt.Errorf("gram: chunk of %d columns, want %d", c.Cols, p.std.all)
	}
	for from := 0; from < c.Rows; {
		n := min(stripRows-p.rows, c.Rows-from)
		p.addToStrip(c, from, n)
		if from += n; p.rows == stripRows {
			p.multiplyStrip()
		}
	}
	return nil
}

// EndPass adds the rows that wait. The sums are then complete.
func (p *PairPanel) EndPass() { p.multiplyStrip() }

func (p *PairPanel) addToStrip(c *stream.Chunk, from, n int) {
	for i := range n {
		p.root[p.rows+i] = math.Sqrt(rowWeight(c, from+i))
	}
	part := rowsOfChunk(c, from, n)
	d := len(p.std.Columns)
	if c.Sparse != nil {
		p.std.To(p.strips[values][p.rows:], stripRows, part)
	}
	const run = 16
	kernel.Each(p.team.Threads(), (d-p.From+run-1)/run, func(t int) {
		k, end := p.From+t*run, min(p.From+(t+1)*run, d)
		if c.Sparse == nil {
			p.std.Some(p.strips[values][k*stripRows+p.rows:], stripRows, part, k, end)
		}
		for ; k < end; k++ {
			if p.pairwise {
				p.markObserved(n, k)
			}
			x := p.strips[values][k*stripRows+p.rows:][:n]
			p.squares[k] += kernel.Dot(x, x)
			p.sums[k] += kernel.Dot(x, p.root[p.rows:][:n])
		}
	})
	p.rows += n
}

func rowsOfChunk(c *stream.Chunk, from, n int) *stream.Chunk {
	part := &stream.Chunk{Rows: n, Block: n, Cols: c.Cols, Stride: c.Stride, Missing: c.Missing}
	if c.Weight != nil {
		part.Weight = c.Weight[from:][:n]
	}
	if s := c.Sparse; s != nil {
		part.Sparse = &stream.CSR{RowPtr: s.RowPtr[from:][:n+1], Index: s.Index, Value: s.Value}
	} else {
		part.Data = c.Data[from:]
	}
	return part
}

func (p *PairPanel) markObserved(n, k int) {
	at := k*stripRows + p.rows
	x, o, z := p.strips[values][at:], p.strips[observed][at:], p.strips[squaresOfValues][at:]
	for i, root := range p.root[p.rows:][:n] {
		if o[i], z[i] = root, x[i]*x[i]/root; x[i] != x[i] {
			x[i], o[i], z[i] = 0, 0, 0
		}
	}
}

func (p *PairPanel) multiplyStrip() {
	d := len(p.std.Columns)
	side := func(which, first, count int) kernel.Matrix[float64] {
		return kernel.RowMajor(p.strips[which], d, p.rows, stripRows).Sub(first, 0, count, p.rows)
	}
	if p.rows == 0 {
		return
	}
	for k, f := range p.listFactors() {
		sums, from := p.productsOf(k), p.From
		if f[0] == f[1] && p.First == p.From { // the products among the panel's own columns are symmetric
			kernel.Syrk(p.team, 1, side(f[0], p.First, p.Count), sums.Sub(0, 0, p.Count, p.Count))
			from += p.Count
		}
		if from < d {
			kernel.Gemm(p.team, 1, side(f[0], p.First, p.Count), side(f[1], from, d-from).Trans(), sums.Sub(0, from-p.From, p.Count, d-from))
		}
	}
	p.rows = 0
}

func (p *PairPanel) productsOf(k int) kernel.Matrix[float64] {
	width := len(p.std.Columns) - p.From
	return kernel.RowMajor(p.products[k*p.Count*width:], p.Count, width, width)
}

// SumsOfPair returns the sums of columns i, of the panel, and j ≥ From.
func (p *PairPanel) SumsOfPair(i, j int) Pair {
	if p.First == p.From && j < i { // symmetric products have their upper triangle
		q := p.SumsOfPair(j, i)
		q.SquaresX, q.SquaresY = q.SquaresY, q.SquaresX
		return q
	}
	q := p.pairOfSums(i, j)
	if i == j { // the same sum, rounded in another order
		q.SquaresX, q.SquaresY = q.Product, q.Product
	}
	return q
}

func (p *PairPanel) pairOfSums(i, j int) Pair {
	at := (i-p.First)*(len(p.std.Columns)-p.From) + j - p.From
	if !p.pairwise {
		weight, a, b := p.std.Weight, p.sums[i], p.sums[j]
		return Pair{weight, p.products[at] - a*b/weight, centredSquares(p.squares[i], a, weight), centredSquares(p.squares[j], b, weight)}
	}
	var s [6]float64
	for k := range s {
		s[k] = p.productsOf(k).Data[at]
	}
	weight := s[1]
	if !(weight > 1e-12*p.std.Weight) {
		return Pair{}
	}
	return Pair{weight, s[0] - s[2]*s[3]/weight, centredSquares(s[4], s[2], weight), centredSquares(s[5], s[3], weight)}
}

func centredSquares(squares, sum, weight float64) float64 {
	centred := squares - sum*sum/weight
	if centred <= minCentredShare*squares { // only rounding error
		return 0
	}
	return centred
}
