package eufs

import (
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// field is one of the two n×k matrices that L is multiplied by.
type field int

const (
	fieldU field = iota
	fieldZ
	fields
)

// graph is a normalized Laplacian L of the rows. It is read-only: what a run needs of
// it beside is in a products of its own.
type graph interface {
	// file holds what belongs to the rows; nil where nothing does.
	file() stream.ScratchFile
	products(team *kernel.Team, l layout) products
}

// products are L·U and L·Z, which take all rows of U and Z: they are gathered, block by
// block in order, before any row of the product can be had.
type products interface {
	// gather takes the rows of block b; block 0 starts anew.
	gather(f field, b int, rec []byte, a []float64)
	// times writes L·A for rows [from, from+h) of block b, whose rows of A are a. Calls
	// may run at the same time.
	times(dst []float64, f field, b int, rec []byte, from int, a []float64)
	// traces turns Tr(UᵀU) and Tr(ZᵀU) into Tr(UᵀLU) and Tr(ZᵀLU).
	traces(uu, zu float64) (ulu, zlu float64)
}

// anchored is the graph of rows that share anchors.
type anchored struct{ *rows.Anchored }

func (g anchored) file() stream.ScratchFile { return g.File }

func (g anchored) products(team *kernel.Team, l layout) products {
	p := &anchoredProducts{anchored: g, layout: l, team: team}
	for f := range p.sums {
		p.sums[f] = make([]float64, g.M*l.k)
	}
	return p
}

// anchoredProducts holds S = BᵀU and BᵀZ, m×k.
type anchoredProducts struct {
	anchored
	layout
	team *kernel.Team
	sums [fields][]float64
}

func (p *anchoredProducts) gather(f field, b int, rec []byte, a []float64) {
	if b == 0 {
		clear(p.sums[f])
	}
	h := p.rows(b)
	kernel.SparseGemm(p.team, p.Rows(rec, h), kernel.RowMajor(a, h, p.k, p.k), kernel.RowMajor(p.sums[f], p.M, p.k, p.k))
}

func (p *anchoredProducts) times(dst []float64, f field, b int, rec []byte, from int, a []float64) {
	z, h := p.Rows(rec, p.rows(b)), len(a)/p.k
	z.Rows, z.Index, z.Value = h, z.Index[from*z.Count:], z.Value[from*z.Count:]
	copy(dst, a)
	rows.AddProduct(1, -1, z, p.sums[f], dst, p.k)
}

func (p *anchoredProducts) traces(uu, zu float64) (ulu, zlu float64) {
	u, z := p.sums[fieldU], p.sums[fieldZ]
	return uu - kernel.Dot(u, u), zu - kernel.Dot(z, u)
}

// neighbours is the graph of nearest rows.
type neighbours struct{ *rows.Graph }

func (g neighbours) file() stream.ScratchFile { return nil }

func (g neighbours) products(_ *kernel.Team, l layout) products {
	p := &neighbourProducts{neighbours: g, layout: l}
	for f := range p.whole {
		p.whole[f] = make([]float64, l.n*int64(l.k))
	}
	return p
}

// neighbourProducts holds U and Z whole.
type neighbourProducts struct {
	neighbours
	layout
	whole [fields][]float64
}

func (p *neighbourProducts) gather(f field, b int, _ []byte, a []float64) {
	copy(p.whole[f][b*p.block*p.k:], a)
}

func (p *neighbourProducts) times(dst []float64, f field, b int, _ []byte, from int, a []float64) {
	p.LaplacianTo(1, dst, p.whole[f], b*p.block+from, len(a)/p.k, p.k)
}

func (p *neighbourProducts) traces(uu, zu float64) (ulu, zlu float64) {
	lu := make([]float64, p.k)
	for i := range int(p.n) {
		p.LaplacianTo(1, lu, p.whole[fieldU], i, 1, p.k)
		ulu += kernel.Dot(p.whole[fieldU][i*p.k:][:p.k], lu)
		zlu += kernel.Dot(p.whole[fieldZ][i*p.k:][:p.k], lu)
	}
	return ulu, zlu
}
