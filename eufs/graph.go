package eufs

import (
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// graph is a graph of the rows with its normalized Laplacian L. Exactly one of the two fields is set. It is read-only;
// each run has its own laplacianMultiplier.
type graph struct {
	anchored   *rows.AnchoredGraph // L = I − BBᵀ for rows that share anchors
	neighbours *rows.Graph         // L of the graph of nearest rows
}

func (g *graph) anchorFile() stream.ScratchFile {
	if g == nil || g.anchored == nil {
		return nil
	}
	return g.anchored.File
}

// laplacianArgument is one of the two n×k matrices by which L is multiplied.
type laplacianArgument int

const (
	argumentU laplacianArgument = iota
	argumentZ
	argumentCount
)

// laplacianMultiplier computes the products L·U and L·Z of the Laplacian, see the package comment. A row of a product
// needs all rows of U or Z. So all rows are gathered first, block by block in order.
type laplacianMultiplier struct {
	layout
	graph    *graph
	team     *kernel.Team
	gathered [argumentCount][]float64 // all of U and Z (n×k), or BᵀU and BᵀZ (m×k)
}

func (g *graph) newMultiplier(l *room.Layout, threads int, shape layout) *laplacianMultiplier {
	height := int(shape.n)
	if a := g.anchored; a != nil {
		height = a.M
		l.Add(kernel.SparseBytes(threads, shape.rowsOfBlock(0), a.M, a.Count))
	}
	p := &laplacianMultiplier{graph: g, layout: shape, team: kernel.NewTeam(threads)}
	for f := range p.gathered {
		p.gathered[f] = room.Slice[float64](l, height*shape.k)
	}
	return p
}

func (p *laplacianMultiplier) graphFile() stream.ScratchFile {
	if p == nil {
		return nil
	}
	return p.graph.anchorFile()
}

// gatherBlock adds the rows a, which are block b of U or Z, to the gathered matrix number f. If there are anchors, rec
// is the block's record of the matrix B of the anchor graph. Block 0 starts a new matrix.
func (p *laplacianMultiplier) gatherBlock(f laplacianArgument, b int, rec []byte, a []float64) {
	if p.graph.neighbours != nil {
		copy(p.gathered[f][b*p.block*p.k:], a)
		return
	}
	if b == 0 {
		clear(p.gathered[f])
	}
	z := p.graph.anchored.ViewRows(rec, p.rowsOfBlock(b))
	kernel.SparseGemm(p.team, z, kernel.RowMajor(a, z.Rows, p.k, p.k), kernel.RowMajor(p.gathered[f], z.Cols, p.k, p.k))
}

// laplacianTo writes rows of L·U or L·Z to dst, beginning with row `from` of block b. a has the same rows of U or Z.
// Several calls may run at the same time.
func (p *laplacianMultiplier) laplacianTo(dst []float64, f laplacianArgument, b int, rec []byte, from int, a []float64) {
	h := len(a) / p.k
	if p.graph.neighbours != nil {
		p.graph.neighbours.LaplacianTo(1, dst, p.gathered[f], b*p.block+from, h, p.k)
		return
	}
	z := p.graph.anchored.ViewRows(rec, p.rowsOfBlock(b))
	z.Rows, z.Index, z.Value = h, z.Index[from*z.Count:], z.Value[from*z.Count:]
	copy(dst, a)
	rows.AddProduct(1, -1, z, p.gathered[f], dst, p.k)
}

// laplacianTraces returns Tr(UᵀLU) and Tr(ZᵀLU). uu and zu are Tr(UᵀU) and Tr(ZᵀU); all of U and Z must be gathered.
func (p *laplacianMultiplier) laplacianTraces(uu, zu float64) (ulu, zlu float64) {
	u, z := p.gathered[argumentU], p.gathered[argumentZ]
	if p.graph.anchored != nil {
		return uu - kernel.Dot(u, u), zu - kernel.Dot(z, u)
	}
	lu := make([]float64, p.k)
	for i := range int(p.n) {
		p.graph.neighbours.LaplacianTo(1, lu, u, i, 1, p.k)
		ulu += kernel.Dot(u[i*p.k:][:p.k], lu)
		zlu += kernel.Dot(z[i*p.k:][:p.k], lu)
	}
	return ulu, zlu
}
