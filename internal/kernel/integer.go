package kernel

import (
	"fmt"
	"math"
	"unsafe"
)

// MostWhole is the largest magnitude of the whole numbers that [SyrkWhole] multiplies 256 at a time: a sum of 256
// products of two such numbers fits an int32, so that it is exact.
const MostWhole = 2896

// MostWholeOf returns the largest magnitude for sums of k products, k at most [DeepestWhole].
func MostWholeOf(k int) int { return int(math.Sqrt(math.MaxInt32 / float64(k))) }

// DeepestWhole is the most products that [SyrkWhole] sums as integers. Of 3,000 rows, 1,024 at a time took three
// quarters of the time of 256.
const DeepestWhole = 4 * depth

// integers is the code that multiplies whole numbers, and its packing: a panel holds numbers 2k and 2k+1 of its mr or
// nr rows, a pair a row, before the next pairs.
type integers struct {
	mr, nr int
	// mul adds A·B to the mr×nr tile c (rows ldc apart), a packed pairs×mr and b pairs×nr: an exact sum
	// of at most 128 pairs, then one rounded addition. Nil means that floating point is as fast.
	mul func(pairs int, a, b *int16, c *float64, ldc int)
	// wholes writes blocks·16 numbers as int16 and returns the least, at most 0, and the most, at least 0; not ok if
	// one is not whole. Numbers beyond an int16 are written as its ends.
	wholes func(blocks int, src *float64, dst *int16) (least, most int16, ok bool)
	// fetch prefetches the given number of cache lines, starting with x's. Nil does nothing.
	fetch func(lines int, x *float64)
}

// ToWholes writes src as int16 to dst, which is as long, and reports whether each is a whole number of at most
// [MostWhole], and whether all are 0. If one is not whole, dst is undefined.
func ToWholes(src []float64, dst []int16) (whole, zero bool) {
	w := &best.whole
	if w.mul == nil {
		return false, false
	}
	zero = true
	dst = dst[:len(src)]
	blocks := len(src) / 16
	if blocks > 0 {
		least, most, ok := w.wholes(blocks, &src[0], &dst[0])
		if !ok || least < -MostWhole || most > MostWhole {
			return false, false
		}
		zero = least == 0 && most == 0
	}
	for i, x := range src[16*blocks:] {
		if !(x >= -MostWhole && x <= MostWhole) || x != float64(int16(x)) {
			return false, false
		}
		dst[16*blocks+i] = int16(x)
		zero = zero && x == 0
	}
	return true, zero
}

// HasWholes reports whether [SyrkWhole] is faster than [Syrk] here.
func HasWholes() bool { return best.whole.mul != nil }

// mostInts is the largest integers.nr.
const mostInts = 48

// SyrkWhole adds A·Aᵀ to the upper triangle of C, to the bits of [Syrk] with alpha 1 and the same numbers as float64:
// A is n×k row-major, rows lda apart, of numbers at most [MostWholeOf] k, as [Wholes] makes them for 256. Row i of A
// belongs to row and column at[i] of C; at is ascending, and nil means i. C is row-major. Costs k·n² operations on
// integers: 256 rows of 896 columns take 0.31 of float64's time with VNNI, 0.46 with AVX-512BW, 0.36 with AVX2;
// NEON's is not measured.
//
// lda is even, and an odd k needs a 0 after each row.
func SyrkWhole(t *Team, a []int16, n, k, lda int, at []int, c Matrix[float64]) {
	if k > DeepestWhole || lda%2 != 0 || lda < k || n > 0 && len(a) < (n-1)*lda+(k+1)&^1 || c.ColStride != 1 || at != nil && len(at) != n {
		panic(fmt.Sprintf("kernel: SyrkWhole of %d×%d, rows %d apart", n, k, lda))
	}
	if n == 0 || k == 0 {
		return
	}
	p := &t.whole
	p.n, p.pairs, p.at, p.c = n, (k+1)/2, at, c
	p.a = RowMajor(unsafe.Slice((*float32)(unsafe.Pointer(&a[0])), len(a)/2), n, p.pairs, lda/2)
	workers := t.workers
	if n*n*k < 4*t.leastShared {
		workers = 1
	}
	w := &t.isa.whole
	if size := panelCount(n, w.mr) * w.mr * p.pairs; len(p.packedA) < size {
		p.packedA = alignedSlice[float32](size)
	}
	if size := panelCount(n, w.nr) * w.nr * p.pairs; len(p.packedB) < size {
		p.packedB = alignedSlice[float32](size)
	}
	if size := w.mr * w.nr * workers; len(p.edges) < size {
		p.edges = alignedSlice[float64](size)
	}
	t.runTogether(workers, p.body)
	p.a, p.c, p.at = Matrix[float32]{}, Matrix[float64]{}, nil
}

// WholeBytes bounds the memory of a team of at most 64 workers for SyrkWhole of n rows.
func WholeBytes(n int) int64 { return 2*2*depth*int64(n+48) + 64*8*8*48 }

// wholeProduct is the current SyrkWhole, and the scratch kept between calls. A pair of int16 is moved as the float32
// of the same bits.
type wholeProduct struct {
	team     *Team
	n, pairs int
	a        Matrix[float32]
	at       []int
	c        Matrix[float64]

	packedA, packedB []float32
	edges            []float64
	body             func(worker int)
}

func (p *wholeProduct) initFor(t *Team) { p.team, p.body = t, p.runWorker }

func (p *wholeProduct) runWorker(worker int) {
	s, w, u := p.team.joinSteps(), &p.team.isa.whole, &p.team.isa.f32
	panelsA, panelsB := panelCount(p.n, w.mr), panelCount(p.n, w.nr)
	for task, ok := s.nextTask(panelsA + panelsB); ok; task, ok = s.nextTask(panelsA + panelsB) {
		dst, width, first := p.packedB, w.nr, task*w.nr
		if task >= panelsB {
			dst, width, first = p.packedA, w.mr, (task-panelsB)*w.mr
		}
		u.packPanel(dst[first*p.pairs:][:width*p.pairs], width, p.a.Sub(first, 0, min(width, p.n-first), p.pairs))
	}
	rows := taskRows / w.mr * w.mr
	high := panelCount(p.n, rows)
	for task, ok := s.nextTask(high * panelsB); ok; task, ok = s.nextTask(high * panelsB) {
		j := (panelsB - 1 - task/high) * w.nr // the costliest first
		p.multiplyTiles(worker, task%high*rows, min((task%high+1)*rows, p.n), j)
	}
}

func (p *wholeProduct) multiplyTiles(worker, i0, i1, j int) {
	w := &p.team.isa.whole
	edge := p.edges[worker*w.mr*w.nr:][:w.mr*w.nr]
	wide := min(w.nr, p.n-j)
	b := (*int16)(unsafe.Pointer(&p.packedB[j*p.pairs]))
	var ends [mostInts]int // ends of runs of columns, from j on, that are consecutive in C
	runs := ends[:0]
	for l := 1; l <= wide; l++ {
		if l == wide || p.targetRow(j+l) != p.targetRow(j+l-1)+1 {
			runs = append(runs, l)
		}
	}
	lines := 0 // cache lines of a row of C from the panel's first column to its last, if these are near each other
	if span := p.targetRow(j+wide-1) - p.targetRow(j) + 1; w.fetch != nil && span <= 4*w.nr {
		lines = panelCount(span+7, 8)
	}
	for i := i0; i < i1; i += w.mr {
		if i > j+wide-1 {
			break // below the diagonal, like the panels after it
		}
		high := min(w.mr, p.n-i)
		a := (*int16)(unsafe.Pointer(&p.packedA[i*p.pairs]))
		if high == w.mr && wide == w.nr && i+high-1 <= j && p.areConsecutive(i, high) && p.areConsecutive(j, wide) {
			w.mul(p.pairs, a, b, &p.c.Data[p.targetRow(i)*p.c.RowStride+p.targetRow(j)], p.c.RowStride)
			continue
		}
		// The tile crosses an edge or the diagonal, or C's columns are not consecutive: compute the sums alone, which
		// are exact. The rows of C arrive from farther caches meanwhile.
		if lines > 0 {
			for q := range high {
				w.fetch(lines, &p.c.Data[p.targetRow(i+q)*p.c.RowStride+p.targetRow(j)])
			}
		}
		clear(edge)
		w.mul(p.pairs, a, b, &edge[0], w.nr)
		for q := range high {
			row, from := p.c.Data[p.targetRow(i+q)*p.c.RowStride:], max(0, i+q-j)
			for _, end := range runs {
				if from >= end {
					continue
				}
				sums := edge[q*w.nr:][from:end]
				to := row[p.targetRow(j+from):][:len(sums)]
				for l, v := range sums {
					to[l] += v
				}
				from = end
			}
		}
	}
}

func (p *wholeProduct) targetRow(i int) int {
	if p.at == nil {
		return i
	}
	return p.at[i]
}

func (p *wholeProduct) areConsecutive(i, n int) bool {
	return p.at == nil || p.at[i+n-1]-p.at[i] == n-1
}
