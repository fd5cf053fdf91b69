package cluster

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// AffinityOptions sets the number of clusters that [Affinity] aims at. Results do not depend on threads.
type AffinityOptions struct {
	Clusters int
	Damping  float64 // share of the old messages in the new ones, from 0.5 and below 1; default DefaultDamping
	Seed     uint64  // of the noise that decides between equal similarities
	Threads  int     // 0 means GOMAXPROCS
}

// DefaultDamping avoids oscillations in nearly all data (Frey and Dueck take 0.5, their program 0.9).
const DefaultDamping = 0.9

// Exemplars is a clustering in which each cluster has one of its rows as its exemplar.
type Exemplars struct {
	Rows       []int   // exemplars, in ascending order; as many as Clusters unless no preference was found for it
	Labels     []int32 // n: index in Rows of the exemplar of each row
	Preference float64 // s(k, k) of all rows, by which they were found; 0 for one cluster
}

const (
	affinityMaxIter = 1000
	// affinityStable is the number of iterations after which unchanged exemplars count as final.
	affinityStable = 50
	// affinityBlock is the number of rows whose messages are updated together, with sums of their own. It is fixed, so
	// that sums are rounded in the same way for any number of threads.
	affinityBlock = 64
	// affinitySteps and affinityRange bound the bisection: a step halves the range of the logarithm of the preference.
	affinitySteps = 24
	affinityRange = 1e-9
	// affinityNoise is the largest noise, as a share of the largest similarity in magnitude. The authors' program adds
	// 2⁻⁵² of each similarity, so that equal rows stay tied, and all or none of them become exemplars.
	affinityNoise = 1e-9
)

// Affinity clusters n×k rows by affinity propagation: Frey and Dueck, "Clustering by passing messages between data
// points", Science 315 (2007), pages 972–976. The similarity s(i, j) is −‖xᵢ − xⱼ‖², and all rows have the same
// preference s(k, k). A bisection finds a preference for which the wanted number of exemplars remains; if there is none,
// the result has the nearest number. Then, as in the authors' program, the row of each cluster with the largest sum of
// similarities becomes its exemplar, and rows are assigned again.
//
// It costs n²·k flops, and some 20·n² for each of at most 1,000 iterations at each of at most 24 preferences. It holds
// three n×n matrices; see [AffinityBytes]. The error is a *stream.UsageError, wraps ErrNotFinite or ErrOverflow, or is
// ctx's.
func Affinity(ctx context.Context, rows Matrix, opt AffinityOptions) (*Exemplars, error) {
	x := matrix(rows)
	if opt.Damping == 0 {
		opt.Damping = DefaultDamping
	}
	if opt.Threads <= 0 {
		opt.Threads = runtime.GOMAXPROCS(0)
	}
	switch {
	case opt.Clusters < 1 || opt.Clusters > x.Rows:
		return nil, stream.Usagef("clusters = %d is not from 1 to the %d rows", opt.Clusters, x.Rows)
	case !(opt.Damping >= 0.5 && opt.Damping < 1):
		return nil, stream.Usagef("damping = %v is not from 0.5 and below 1", opt.Damping)
	}
	if err := checkFinite(opt.Threads, x); err != nil {
		return nil, err
	}
	p := newPropagation(nil, x.Rows, x.Cols)
	p.threads, p.damping = opt.Threads, opt.Damping
	if err := p.measureSimilarities(x, opt.Seed); err != nil {
		return nil, err
	}
	return p.findExemplars(ctx, opt.Clusters)
}

// AffinityBytes returns the memory of [Affinity] in addition to its n×k rows.
func AffinityBytes(n, k int) int64 {
	return room.Measure(func(l *room.Layout) { newPropagation(l, n, k) })
}

// propagation contains the messages between n rows. Matrices are n×n, row-major.
type propagation struct {
	n, threads     int
	damping        float64
	points         []float64 // n×k copy of the rows
	similarity     []float64 // s(i, k), the preference on the diagonal
	responsibility []float64 // r(i, k)
	availability   []float64 // a(i, k)
	support        []float64 // Σ over i ≠ k of max(0, r(i, k))
	own            []float64 // r(k, k)
	partial        []float64 // support from each block of rows
	isExemplar     []bool
	labels         []int32
}

func newPropagation(l *room.Layout, n, k int) *propagation {
	blocks := (n + affinityBlock - 1) / affinityBlock
	l.Add(affinitySteps * 16 * int64(n)) // exemplars and labels of each step
	return &propagation{
		n: n, points: room.Slice[float64](l, n*k), similarity: room.Slice[float64](l, n*n), responsibility: room.Slice[float64](l, n*n), availability: room.Slice[float64](l, n*n),
		support: room.Slice[float64](l, n), own: room.Slice[float64](l, n), partial: room.Slice[float64](l, blocks*n), isExemplar: room.Slice[bool](l, n), labels: room.Slice[int32](l, n),
	}
}

func (p *propagation) rowOf(matrix []float64, i int) []float64 { return matrix[i*p.n:][:p.n] }

func (p *propagation) measureSimilarities(x matrix, seed uint64) error {
	k := x.Cols
	kernel.Copy(kernel.RowMajor(p.points, p.n, k, k), x)
	kernel.Each(p.threads, p.n, func(i int) {
		for j := range p.n {
			p.similarity[i*p.n+j] = -squaredDistance(p.points[i*k:][:k], p.points[j*k:][:k])
		}
	})
	largest := 0.0
	for _, s := range p.similarity {
		largest = max(largest, -s)
	}
	if math.IsInf(largest*float64(p.n), 1) {
		return ErrOverflow
	}
	kernel.Each(p.threads, p.n, func(i int) {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		for j := range p.n {
			p.similarity[i*p.n+j] -= affinityNoise * largest * rng.Float64()
		}
	})
	return nil
}

// findExemplars bisects the preference. A larger preference leaves more exemplars.
func (p *propagation) findExemplars(ctx context.Context, want int) (*Exemplars, error) {
	most := math.Inf(-1) // sum of similarities to the best single exemplar
	for k := range p.n {
		sum := 0.0
		for i := range p.n {
			sum += p.similarity[i*p.n+k]
		}
		most = max(most, sum)
	}
	if want == 1 || most == 0 {
		return p.assignRows(), nil
	}
	low, high := -most, -most*affinityRange // magnitudes: for low, one exemplar remains
	var best *Exemplars
	for range affinitySteps {
		preference := -math.Sqrt(low * high)
		if err := p.propagateMessages(ctx, preference); err != nil {
			return nil, err
		}
		found := p.assignRows()
		found.Preference = preference
		if best == nil || distanceFrom(want, len(found.Rows)) < distanceFrom(want, len(best.Rows)) {
			best = found
		}
		switch {
		case len(best.Rows) == want:
			return best, nil
		case len(found.Rows) > want:
			high = -preference
		default:
			low = -preference
		}
	}
	return best, nil
}

func distanceFrom(want, count int) int { return max(want-count, count-want) }

// propagateMessages sends messages from zero until the exemplars have stayed the same, or iterations run out.
func (p *propagation) propagateMessages(ctx context.Context, preference float64) error {
	clear(p.responsibility)
	clear(p.availability)
	clear(p.support)
	clear(p.own)
	clear(p.isExemplar)
	for k := range p.n {
		p.similarity[k*p.n+k] = preference
	}
	stable := 0
	for iteration := 0; iteration < affinityMaxIter && stable < affinityStable; iteration++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		blocks := (p.n + affinityBlock - 1) / affinityBlock
		kernel.Each(p.threads, blocks, func(b int) { p.updateBlock(b, iteration > 0) })
		clear(p.support)
		for b := range blocks {
			for k, x := range p.rowOf(p.partial, b) {
				p.support[k] += x
			}
		}
		stable++
		count := 0
		for k := range p.n {
			p.own[k] = p.responsibility[k*p.n+k]
			is := p.own[k]+p.damping*p.availability[k*p.n+k]+(1-p.damping)*p.support[k] > 0 // with the next a(k, k)
			if is {
				count++
			}
			if is != p.isExemplar[k] {
				p.isExemplar[k], stable = is, 0
			}
		}
		if count == 0 {
			stable = 0
		}
	}
	return nil
}

// updateBlock updates the availabilities of a block of rows by the last responsibilities, and then these (equations 2 and
// 1 of the paper): a(i, k) = min(0, r(k, k) + Σ max(0, r(i′, k))) over i′ ≠ i, k, without r(k, k) and the minimum for
// i = k; and r(i, k) = s(i, k) − max (a(i, k′) + s(i, k′)) over k′ ≠ k. All messages are damped.
func (p *propagation) updateBlock(b int, hasMessages bool) {
	partial := p.rowOf(p.partial, b)
	clear(partial)
	keep, take := p.damping, 1-p.damping
	for i := b * affinityBlock; i < min((b+1)*affinityBlock, p.n); i++ {
		s, r, a := p.rowOf(p.similarity, i), p.rowOf(p.responsibility, i), p.rowOf(p.availability, i)
		first, second, at := math.Inf(-1), math.Inf(-1), -1 // the two largest a + s
		for k := range a {
			if hasMessages {
				next := p.support[k]
				if k != i {
					next = min(0, p.own[k]+next-max(0, r[k]))
				}
				a[k] = keep*a[k] + take*next
			}
			switch sum := a[k] + s[k]; {
			case sum > first:
				first, second, at = sum, first, k
			case sum > second:
				second = sum
			}
		}
		for k := range r {
			largest := first
			if k == at {
				largest = second
			}
			r[k] = keep*r[k] + take*(s[k]-largest)
			if k != i {
				partial[k] += max(0, r[k])
			}
		}
	}
}

// assignRows assigns the rows to their most similar exemplars, moves each exemplar to the row of its cluster with the
// largest sum of similarities, and assigns again. Without exemplars all rows are one cluster.
func (p *propagation) assignRows() *Exemplars {
	e := &Exemplars{Labels: make([]int32, p.n)}
	for k, is := range p.isExemplar {
		if is {
			e.Rows = append(e.Rows, k)
		}
	}
	if len(e.Rows) == 0 {
		e.Rows = []int{0}
	}
	p.labelRows(e.Rows, p.labels)
	for c := range e.Rows {
		best, largest := e.Rows[c], math.Inf(-1)
		for k := range p.n {
			if int(p.labels[k]) != c {
				continue
			}
			sum := 0.0
			for i := range p.n {
				if int(p.labels[i]) == c && i != k {
					sum += p.similarity[i*p.n+k]
				}
			}
			if sum > largest {
				best, largest = k, sum
			}
		}
		e.Rows[c] = best
	}
	slices.Sort(e.Rows)
	p.labelRows(e.Rows, e.Labels)
	return e
}

func (p *propagation) labelRows(exemplars []int, labels []int32) {
	for i := range p.n {
		best := math.Inf(-1)
		for c, k := range exemplars {
			if s := p.similarity[i*p.n+k]; k == i || s > best {
				best, labels[i] = s, int32(c)
			}
			if k == i {
				break
			}
		}
	}
}
