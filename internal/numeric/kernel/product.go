package kernel

import (
	"fmt"
	"unsafe"
)

// These constants divide a product into blocks, as in BLIS. C is divided into super-blocks. For each super-block, depth
// columns of A and rows of B at a time are packed into panels. A panel is as high or wide as a tile, i.e. the block of
// C to which the micro-kernel adds in one call.
const (
	// depth is the number of terms that are summed in registers before they are added to C. Rounding depends only on
	// depth, which is therefore the same for all types and instruction sets. A panel of 24 float64 or 48 float32 by depth
	// has 48 KiB.
	depth = 256
	// superBlock bounds the sides of a super-block of C. A packed panel set of 1,056 × 256 float64 takes 2 MiB, shared by
	// all workers. Packing moves 2·superBlock·depth numbers for superBlock²·depth multiplications. superBlock is a
	// multiple of the width of every panel.
	superBlock = 22 * 48
	// taskRows and taskCols bound the part of a super-block that a worker multiplies at a time. Its 128 packed rows of A
	// (256 KiB) stay in the level-2 cache while the panels of B are read.
	taskRows, taskCols = 128, 384
	// minSharedSize is the number of multiplications below which one worker is as fast as two, because starting and
	// joining a goroutine takes 5 to 20 µs.
	minSharedSize = 1 << 20
)

// micro contains the micro-kernel and the packing functions of an instruction set.
type micro[T Float] struct {
	mr, nr int
	// mul adds alpha·A·B to the mr×nr tile c (rows ldc apart). a is packed k×mr, and b is packed k×nr. Every element c
	// becomes fma(alpha, s, c), s being the sum of k products in order, from 0. Each addition is a fused multiply-add; in
	// Go product and sum are rounded separately.
	mul func(k int, alpha T, a, b, c *T, ldc int)
	// transpose writes dst[l*width+i] = src[i*stride+l] for i < 4, l < k; k is a multiple of 4. Nil means plain Go.
	transpose func(k int, src *T, stride int, dst *T, width int)
	// copy copies k runs of 16·units consecutive bytes, stride bytes apart, into one run. It serves both element types.
	// Nil means plain Go.
	copy func(k int, src *byte, stride int, dst *byte, units int)
	// thin does the same as mul for tiles of mr×thinCols, with an A that is not packed. rows and columns are the strides
	// of A's elements. b is packed k×thinCols. Nil means that A is always packed.
	thin     func(k int, alpha T, a *T, rows, columns int, b, c *T, ldc int)
	thinCols int
}

// Gemm adds alpha·A·B to C. A is m×k, B is k×n and C is m×n, all in any layout (for a transposed matrix, pass a
// transposed view). Gemm costs 2·m·n·k flops. It also packs min(k, 256) columns of A and rows of B at a time, see
// [Team].
//
// The bits of an element of C depend only on its old value, its row of A, its column of B and k. They do not
// depend on the team, nor on the position and neighbours of the row and column.
func Gemm[T Float](t *Team, alpha T, a, b, c Matrix[T]) {
	if a.Rows != c.Rows || a.Cols != b.Rows || b.Cols != c.Cols {
		panic(fmt.Sprintf("kernel: Gemm of %d×%d and %d×%d into %d×%d", a.Rows, a.Cols, b.Rows, b.Cols, c.Rows, c.Cols))
	}
	p := floatProductOf[T](t)
	if few := min(c.Rows, c.Cols) <= p.thinCols && max(c.Rows, c.Cols) >= p.mr; few && c.Rows < c.Cols || !few && c.ColStride != 1 {
		a, b, c = b.Trans(), a.Trans(), c.Trans()
	}
	p.addProduct(alpha, a, b, c, false)
}

// Syrk adds alpha·A·Aᵀ to the upper triangle of C. A is d×k, and C is d×d row-major. The strict lower
// triangle of C is not changed. It costs k·d² flops, because it uses the symmetry. For the Gram matrix of
// a column-major chunk X, pass A = Xᵀ. Its elements have the same bits as from [Gemm].
func Syrk[T Float](t *Team, alpha T, a, c Matrix[T]) {
	if a.Rows != c.Rows || c.Rows != c.Cols {
		panic(fmt.Sprintf("kernel: Syrk of %d×%d into %d×%d", a.Rows, a.Cols, c.Rows, c.Cols))
	}
	floatProductOf[T](t).addProduct(alpha, a, a.Trans(), c, true)
}

func floatProductOf[T Float](t *Team) *floatProduct[T] {
	var p any = &t.f64
	if _, ok := p.(*floatProduct[T]); !ok {
		p = &t.f32
	}
	return p.(*floatProduct[T])
}

// floatProduct contains the arguments of the current product, and scratch memory kept between products.
type floatProduct[T Float] struct {
	team *Team
	*micro[T]

	alpha     T
	a, b, c   Matrix[T]
	upperOnly bool
	isThin    bool // C has at most thinCols columns

	taskRows, taskCols int // the constants taskRows and taskCols, rounded to whole panels

	packedA, packedB []T
	edges            []T // mr·nr for each worker: a copy of a tile that crosses an edge of C
	body             func(worker int)
}

func (p *floatProduct[T]) initForTeam(t *Team, m *micro[T]) {
	p.team, p.micro, p.body = t, m, p.runWorker
	p.taskRows, p.taskCols = taskRows/m.mr*m.mr, taskCols/m.nr*m.nr
}

func (p *floatProduct[T]) addProduct(alpha T, a, b, c Matrix[T], upper bool) {
	a.checkBounds("A")
	b.checkBounds("B")
	c.checkBounds("C")
	if c.Rows == 0 || c.Cols == 0 || a.Cols == 0 {
		return
	}
	p.alpha, p.a, p.b, p.c, p.upperOnly = alpha, a, b, c, upper
	p.isThin = !upper && c.Cols <= p.thinCols && c.Rows >= p.mr
	if c.ColStride != 1 && !p.isThin {
		panic("kernel: C is neither row- nor column-major")
	}
	workers := p.team.workers
	if c.Rows*c.Cols*a.Cols < p.team.minSharedSize {
		workers = 1
	}
	p.reservePanels(workers)
	p.team.runTogether(workers, p.body)
	p.a, p.b, p.c = Matrix[T]{}, Matrix[T]{}, Matrix[T]{} // let the collector free them
}

func (p *floatProduct[T]) reservePanels(workers int) {
	k := min(depth, p.a.Cols)
	inA, inB := panelCount(min(superBlock, p.c.Rows), p.mr)*p.mr*k, panelCount(min(superBlock, p.c.Cols), p.nr)*p.nr*k
	if p.isThin {
		inA, inB = 0, p.thinCols*min(thinDepths*depth, p.a.Cols)
	}
	reserveSlice(nil, &p.packedA, inA)
	reserveSlice(nil, &p.packedB, inB)
	reserveSlice(nil, &p.edges, p.mr*p.nr*workers)
}

// productBlock describes the product C[i:i+m, j:j+n] += A[i:i+m, l:l+k] · B[l:l+k, j:j+n].
type productBlock struct{ i, m, j, n, l, k int }

// runWorker does one worker's part of a product. All workers go through the same blocks, and share the tasks of packing
// and multiplying each block.
func (p *floatProduct[T]) runWorker(worker int) {
	s := p.team.joinSteps()
	if p.isThin {
		p.runThinWorker(worker, &s)
		return
	}
	high, wide := superBlockSide(p.c.Rows), superBlockSide(p.c.Cols)
	for j := 0; j < p.c.Cols; j += wide {
		n, rows := min(wide, p.c.Cols-j), p.c.Rows
		if p.upperOnly {
			rows = j + n
		}
		for l := 0; l < p.a.Cols; l += depth {
			for i := 0; i < rows; i += high {
				b := productBlock{i, min(high, rows-i), j, n, l, min(depth, p.a.Cols-l)}
				panelsA, panelsB := panelCount(b.m, p.mr), panelCount(n, p.nr)
				if i > 0 { // B stays packed
					panelsB = 0
				}
				for task, ok := s.nextTask(panelsA + panelsB); ok; task, ok = s.nextTask(panelsA + panelsB) {
					if task < panelsB {
						p.packPanelOfB(b, task*p.nr)
					} else {
						p.packPanelOfA(b, (task-panelsB)*p.mr)
					}
				}
				across := panelCount(n, p.taskCols)
				tasks := across * panelCount(b.m, p.taskRows)
				for task, ok := s.nextTask(tasks); ok; task, ok = s.nextTask(tasks) {
					p.multiplyBlock(worker, b, task/across*p.taskRows, task%across*p.taskCols)
				}
			}
		}
	}
}

func (p *floatProduct[T]) packPanelOfA(b productBlock, panel int) {
	a := p.a.Sub(b.i+panel, b.l, min(p.mr, b.m-panel), b.k)
	p.packPanel(p.packedA[panel*b.k:][:p.mr*b.k], p.mr, a)
}

func (p *floatProduct[T]) packPanelOfB(b productBlock, panel int) {
	bt := p.b.Sub(b.l, b.j+panel, b.k, min(p.nr, b.n-panel)).Trans()
	p.packPanel(p.packedB[panel*b.k:][:p.nr*b.k], p.nr, bt)
}

// superBlockSide returns the side of the super-blocks that cover n rows or columns. It chooses as few super-blocks as
// possible, of nearly equal size and of whole panels.
func superBlockSide(n int) int {
	const whole = 48 // a multiple of every panel's width
	return panelCount(panelCount(n, panelCount(n, superBlock)), whole) * whole
}

func panelCount(n, size int) int { return (n + size - 1) / size }

// packPanel writes the rows of src, at most width, as a panel: dst[l*width+i] = src[i, l]. Missing rows become 0.
func (u *micro[T]) packPanel(dst []T, width int, src Matrix[T]) {
	rows, k := src.Rows, src.Cols
	if rows < width {
		clear(dst)
	}
	switch {
	case src.RowStride == 1 && rows == width && width%4 == 0 && u.copy != nil:
		size := int(unsafe.Sizeof(dst[0]))
		u.copy(k, (*byte)(unsafe.Pointer(&src.Data[0])), src.ColStride*size, (*byte)(unsafe.Pointer(&dst[0])), width*size/16)
	case src.RowStride == 1:
		for l := range k {
			copy(dst[l*width:][:rows], src.Data[l*src.ColStride:])
		}
	case src.ColStride == 1:
		i := 0
		if whole := k &^ 3; u.transpose != nil && whole > 0 {
			for ; i+4 <= rows; i += 4 {
				u.transpose(whole, &src.Data[i*src.RowStride], src.RowStride, &dst[i], width)
				for r := i; r < i+4; r++ {
					for l := whole; l < k; l++ {
						dst[l*width+r] = src.Data[r*src.RowStride+l]
					}
				}
			}
		}
		for ; i < rows; i++ {
			for l, x := range src.Data[i*src.RowStride:][:k] {
				dst[l*width+i] = x
			}
		}
	default:
		for i := range rows {
			for l := range k {
				dst[l*width+i] = src.Data[i*src.RowStride+l*src.ColStride]
			}
		}
	}
}

// multiplyBlock multiplies the part of a block that starts at (i0, j0). It multiplies all panels of A by one panel of B
// before it continues with the next panel of B.
func (p *floatProduct[T]) multiplyBlock(worker int, blk productBlock, i0, j0 int) {
	i1, j1 := min(i0+p.taskRows, blk.m), min(j0+p.taskCols, blk.n)
	edge := p.edges[worker*p.mr*p.nr:][:p.mr*p.nr]
	for j := j0; j < j1; j += p.nr {
		w := min(p.nr, blk.n-j)
		b := &p.packedB[j*blk.k]
		for i := i0; i < i1; i += p.mr {
			h := min(p.mr, blk.m-i)
			// The tile begins at row r, column s of C.
			r, s := blk.i+i, blk.j+j
			if p.upperOnly && r > s+w-1 {
				break // below the diagonal, like the panels after it
			}
			c := p.c.Data[r*p.c.RowStride+s:]
			if h == p.mr && w == p.nr && (!p.upperOnly || r+h-1 <= s) {
				p.mul(blk.k, p.alpha, &p.packedA[i*blk.k], b, &c[0], p.c.RowStride)
				continue
			}
			// The tile crosses an edge or the diagonal: compute a copy of it by the same code.
			for q := range h {
				copy(edge[q*p.nr:][:w], c[q*p.c.RowStride:])
			}
			p.mul(blk.k, p.alpha, &p.packedA[i*blk.k], b, &edge[0], p.nr)
			for q := range h {
				from := 0
				if p.upperOnly {
					from = min(max(0, r+q-s), w)
				}
				copy(c[q*p.c.RowStride:][from:w], edge[q*p.nr:][from:w])
			}
		}
	}
}

// thinDepths·depth rows of B are packed at a time for a product with few columns. They fit into a level-2 cache
// together with the same number of columns of some rows of A.
const thinDepths = 4

// runThinWorker does one worker's part of a product whose C has few columns. It does not pack A, as packing would take
// as long as multiplying. cpufs multiplies 10,000×784 by 784×10 a thousand times, and spent a third of that time
// packing.
func (p *floatProduct[T]) runThinWorker(worker int, s *stepPosition) {
	n := p.c.Cols
	edge := p.edges[worker*p.mr*p.nr:][:p.mr*p.thinCols]
	for l := 0; l < p.a.Cols; l += thinDepths * depth {
		long := min(thinDepths*depth, p.a.Cols-l)
		blocks := panelCount(long, depth)
		for task, ok := s.nextTask(blocks); ok; task, ok = s.nextTask(blocks) {
			at := task * depth
			k := min(depth, long-at)
			p.packPanel(p.packedB[at*p.thinCols:][:k*p.thinCols], p.thinCols, p.b.Sub(l+at, 0, k, n).Trans())
		}
		tasks := panelCount(p.c.Rows, p.taskRows)
		for task, ok := s.nextTask(tasks); ok; task, ok = s.nextTask(tasks) {
			for i := task * p.taskRows; i < min((task+1)*p.taskRows, p.c.Rows); i += p.mr {
				first := min(i, p.c.Rows-p.mr) // the last tile repeats rows of the previous tile, which are not stored
				c, stride, own := edge, p.thinCols, first+p.mr-i
				// Copy column by column, because there are few columns. Computing an index for each element made products with 10
				// rows a seventh slower.
				tile, there := RowMajor(edge[(i-first)*p.thinCols:], own, n, p.thinCols).Trans(), p.c.Sub(i, 0, own, n).Trans()
				direct := own == p.mr && n == p.thinCols && p.c.ColStride == 1
				if direct {
					c, stride = there.Data, p.c.RowStride
				} else {
					Copy(tile, there)
				}
				for at := 0; at < long; at += depth {
					p.thin(min(depth, long-at), p.alpha, &p.a.Data[first*p.a.RowStride+(l+at)*p.a.ColStride], p.a.RowStride, p.a.ColStride,
						&p.packedB[at*p.thinCols], &c[0], stride)
				}
				if !direct {
					Copy(there, tile)
				}
			}
		}
	}
}

// ThinColumns returns the largest number of columns or rows of C for which [Gemm] of float64 does not pack the larger
// factor. A row-major C with exactly this number of columns is the fastest. 0 means that Gemm always packs.
func ThinColumns() int { return best.f64.thinCols }

// TeamBytes bounds the memory of a team of at most 64 workers after products of float64 into m×n matrices: packed
// panels, and a tile for each worker. Each worker above 64 needs 1.5 KiB more. float32 needs the same amount in
// addition. For sparse products see [SparseBytes].
func TeamBytes(m, n int) int64 {
	return 8 * int64(depth*(min(superBlock, m+48)+min(superBlock, n+48))+64*8*24)
}
