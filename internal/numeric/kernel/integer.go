package kernel

import (
	"fmt"
	"math"
	"unsafe"
)

// MostWhole is the largest magnitude of integers for which [SyrkWhole] can sum 256 products at a time: a sum of 256
// products of two such integers fits into an int32, and is therefore exact.
const MostWhole = 2896

// MostWholeOf returns the largest magnitude of integers for which every sum of k products fits into an int32. k must be
// at most [DeepestWhole].
func MostWholeOf(k int) int { return int(math.Sqrt(math.MaxInt32 / float64(k))) }

// DeepestWhole is the largest number of products that [SyrkWhole] sums as integers before it adds the sum to a float64.
// For 3,000 rows, sums of 1,024 products took three quarters of the time of sums of 256.
const DeepestWhole = 4 * depth

// integerCode contains the code of an instruction set that multiplies integers. A packed panel contains a pair of
// integers, 2k and 2k+1, for each of its mr or nr rows, and then the next pair of each row.
type integerCode struct {
	mr, nr int
	// mul adds A·B to the mr×nr tile c (rows ldc apart). a is packed pairs×mr, and b is packed pairs×nr. The integer sums
	// are exact. Only their addition to c is rounded. Nil means that floating point is as fast.
	mul func(pairs int, a, b *int16, c *float64, ldc int)
	// toInt16 writes blocks·16 numbers as int16. least is the smallest of 0 and the numbers, most the largest. ok is false
	// if a number is not an integer. A number outside the range of int16 is written as the nearest int16.
	toInt16 func(blocks int, src *float64, dst *int16) (least, most int16, ok bool)
	// prefetch, if not nil, prefetches the given number of cache lines, the first of which contains x.
	prefetch func(lines int, x *float64)
}

// ToWholes writes src as int16 to dst, which must be as long. whole reports whether all are integers of at most
// [MostWhole] in magnitude, and zero whether all are 0. If a number is not an integer, dst is undefined.
func ToWholes(src []float64, dst []int16) (whole, zero bool) {
	w := &best.integer
	if w.mul == nil {
		return false, false
	}
	zero = true
	dst = dst[:len(src)]
	blocks := len(src) / 16
	if blocks > 0 {
		least, most, ok := w.toInt16(blocks, &src[0], &dst[0])
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

// HasWholes reports whether [SyrkWhole] is faster than [Syrk] with the instruction set in use.
func HasWholes() bool { return best.integer.mul != nil }

// maxIntegerColumns is the largest nr in an integerCode, i.e. the largest number of columns of a tile.
const maxIntegerColumns = 48

// SyrkWhole adds A·Aᵀ to the upper triangle of the row-major matrix C. The result has the bits of [Syrk] with alpha 1
// for the same numbers in float64. A is n×k row-major with rows lda apart. Its entries are at most MostWholeOf(k),
// which [ToWholes] ensures for k ≤ 256. Row i of A belongs to row and column at[i] of C. The list at is ascending; nil
// means at[i] = i. SyrkWhole costs k·n² operations on integers. For 256 rows of 896 columns it took 0.31 of the time of
// float64 with VNNI, 0.46 with AVX-512BW, and 0.36 with AVX2. NEON was not measured.
//
// lda must be even. If k is odd, each row of A must be followed by a 0.
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
	if n*n*k < 4*t.minSharedSize {
		workers = 1
	}
	w := &t.isa.integer
	reserveSlice(nil, &p.packedA, panelCount(n, w.mr)*w.mr*p.pairs)
	reserveSlice(nil, &p.packedB, panelCount(n, w.nr)*w.nr*p.pairs)
	reserveSlice(nil, &p.edges, w.mr*w.nr*workers)
	t.runTogether(workers, p.body)
	p.a, p.c, p.at = Matrix[float32]{}, Matrix[float64]{}, nil
}

// WholeBytes bounds the memory of a team of at most 64 workers for SyrkWhole of n rows of at most 256 integers.
func WholeBytes(n int) int64 { return 2*2*depth*int64(n+48) + 64*8*8*48 }

// wholeProduct contains the arguments of the current SyrkWhole, and scratch memory kept between calls. Packing moves a
// pair of int16 as one float32 with the same bits.
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

func (p *wholeProduct) initForTeam(t *Team) { p.team, p.body = t, p.runWorker }

func (p *wholeProduct) runWorker(worker int) {
	s, w, u := p.team.joinSteps(), &p.team.isa.integer, &p.team.isa.f32
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
		j := (panelsB - 1 - task/high) * w.nr // the last panel first, because it costs the most
		p.multiplyTiles(worker, task%high*rows, min((task%high+1)*rows, p.n), j)
	}
}

func (p *wholeProduct) multiplyTiles(worker, i0, i1, j int) {
	w := &p.team.isa.integer
	edge := p.edges[worker*w.mr*w.nr:][:w.mr*w.nr]
	wide := min(w.nr, p.n-j)
	b := (*int16)(unsafe.Pointer(&p.packedB[j*p.pairs]))
	var ends [maxIntegerColumns]int // the columns from j on form runs of columns that are consecutive in C: ends of these runs
	runs := ends[:0]
	for l := 1; l <= wide; l++ {
		if l == wide || p.rowInC(j+l) != p.rowInC(j+l-1)+1 {
			runs = append(runs, l)
		}
	}
	lines := 0 // cache lines of a row of C that the panel's columns occupy, or 0 if the columns are far apart
	if span := p.rowInC(j+wide-1) - p.rowInC(j) + 1; w.prefetch != nil && span <= 4*w.nr {
		lines = panelCount(span+7, 8)
	}
	for i := i0; i < i1; i += w.mr {
		if i > j+wide-1 {
			break // below the diagonal, like the panels after it
		}
		high := min(w.mr, p.n-i)
		a := (*int16)(unsafe.Pointer(&p.packedA[i*p.pairs]))
		if high == w.mr && wide == w.nr && i+high-1 <= j && p.areRowsInCConsecutive(i, high) && p.areRowsInCConsecutive(j, wide) {
			w.mul(p.pairs, a, b, &p.c.Data[p.rowInC(i)*p.c.RowStride+p.rowInC(j)], p.c.RowStride)
			continue
		}
		// The tile crosses an edge or the diagonal, or the columns are not consecutive in C: compute only the sums,
		// which are exact. Meanwhile the rows of C are fetched from farther caches.
		if lines > 0 {
			for q := range high {
				w.prefetch(lines, &p.c.Data[p.rowInC(i+q)*p.c.RowStride+p.rowInC(j)])
			}
		}
		clear(edge)
		w.mul(p.pairs, a, b, &edge[0], w.nr)
		for q := range high {
			row, from := p.c.Data[p.rowInC(i+q)*p.c.RowStride:], max(0, i+q-j)
			for _, end := range runs {
				if from >= end {
					continue
				}
				sums := edge[q*w.nr:][from:end]
				to := row[p.rowInC(j+from):][:len(sums)]
				for l, v := range sums {
					to[l] += v
				}
				from = end
			}
		}
	}
}

func (p *wholeProduct) rowInC(i int) int {
	if p.at == nil {
		return i
	}
	return p.at[i]
}

func (p *wholeProduct) areRowsInCConsecutive(i, n int) bool {
	return p.at == nil || p.at[i+n-1]-p.at[i] == n-1
}
