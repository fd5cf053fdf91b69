package eufs

import (
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// graph is a normalized Laplacian L of the rows: one of the two fields is set. It is
// read-only; each run has its own products.
type graph struct {
	anchored   *rows.Anchored // rows that share anchors
	neighbours *rows.Graph    // nearest rows
}

// file holds the rows of B; nil for nearest rows.
func (g *graph) file() stream.ScratchFile {
	if g == nil || g.anchored == nil {
		return nil
	}
	return g.anchored.File
}

// field is one of the two n×k matrices that L is multiplied by.
type field int

const (
	fieldU field = iota
	fieldZ
	fields
)

// products are L·U and L·Z, which take all rows of U and Z: they are gathered, block by
// block in order, before any row of the product can be had.
type products struct {
	*graph
	layout
	team *kernel.Team
	all  [fields][]float64 // U and Z whole, or BᵀU and BᵀZ, m×k
}

func (g *graph) products(team *kernel.Team, l layout) *products {
	height := int(l.n)
	if g.anchored != nil {
		height = g.anchored.M
	}
	p := &products{graph: g, layout: l, team: team}
	for f := range p.all {
		p.all[f] = make([]float64, height*l.k)
	}
	return p
}

func (p *products) file() stream.ScratchFile {
	if p == nil {
		return nil
	}
	return p.graph.file()
}

// gather takes the rows of block b of A; block 0 starts anew.
func (p *products) gather(f field, b int, rec []byte, a []float64) {
	if p.neighbours != nil {
		copy(p.all[f][b*p.block*p.k:], a)
		return
	}
	if b == 0 {
		clear(p.all[f])
	}
	z := p.anchored.Rows(rec, p.rows(b))
	kernel.SparseGemm(p.team, z, kernel.RowMajor(a, z.Rows, p.k, p.k), kernel.RowMajor(p.all[f], z.Cols, p.k, p.k))
}

// times writes some rows of L·A, starting at row from of block b; a has the rows of A.
// Calls may run at the same time.
func (p *products) times(dst []float64, f field, b int, rec []byte, from int, a []float64) {
	h := len(a) / p.k
	if p.neighbours != nil {
		p.neighbours.LaplacianTo(1, dst, p.all[f], b*p.block+from, h, p.k)
		return
	}
	z := p.anchored.Rows(rec, p.rows(b))
	z.Rows, z.Index, z.Value = h, z.Index[from*z.Count:], z.Value[from*z.Count:]
	copy(dst, a)
	rows.AddProduct(1, -1, z, p.all[f], dst, p.k)
}

// traces turns Tr(UᵀU) and Tr(ZᵀU) into Tr(UᵀLU) and Tr(ZᵀLU).
func (p *products) traces(uu, zu float64) (ulu, zlu float64) {
	u, z := p.all[fieldU], p.all[fieldZ]
	if p.anchored != nil {
		return uu - kernel.Dot(u, u), zu - kernel.Dot(z, u)
	}
	lu := make([]float64, p.k)
	for i := range int(p.n) {
		p.neighbours.LaplacianTo(1, lu, u, i, 1, p.k)
		ulu += kernel.Dot(u[i*p.k:][:p.k], lu)
		zlu += kernel.Dot(z[i*p.k:][:p.k], lu)
	}
	return ulu, zlu
}
