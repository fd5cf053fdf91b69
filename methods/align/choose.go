package align

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Problem is the input of Choose for d features xᵢ. K is the diffusion kernel, and G the Gram matrix of the features.
type Problem struct {
	A       []float64             // d: aᵢ = xᵢᵀKxᵢ ≥ 0
	Norm    float64               // ‖K‖; if it is 0, all reported alignments are 0
	Squares []float64             // d: Gᵢᵢ
	Column  func(j int) []float64 // returns G₍:,j₎, d numbers that are valid until the next call
	// Ahead announces the next call of Column, for column j, and columns that are likely to be requested later, most
	// likely first. It is nil if computing columns in advance has no benefit.
	Ahead func(j int, likely []int)
}

// Result is the result of a choice. Its first k features are the choice of k features.
type Result struct {
	Order []int // chosen columns, in order
	// Alignment is the alignment of the first 1, 2, … chosen features with the kernel K: ⟨X_SX_Sᵀ, K⟩/(‖X_SX_Sᵀ‖·‖K‖), X_S
	// being the columns of these features. It is between 0 and 1.
	Alignment []float64
	Ties      []Tie // turns at which the first of several equally good columns was chosen
	Copies    int   // number of chosen features that are multiples of features chosen earlier
	Faint     int   // number of chosen features that are negligible compared with the largest feature
}

// Tie describes a turn at which other columns were as good as the chosen column.
type Tie struct {
	Turn   int // number of features chosen before this turn
	Others int // number of equally good columns that were not chosen
	First  int // the first of these columns
}

const (
	// Two gains are considered equal if their difference is below tieShare times the magnitude of their terms.
	tieShare = 1e-9
	// copyCosine: a feature is a multiple of another feature if their cosine is at least this. The rounding error of a
	// cosine from G is 1e-13.
	copyCosine = 1 - 1e-10
	// leastSquare: if a feature's square is below this share of the largest, its fourth power underflows float64.
	leastSquare = 1e-150
	// blockFeatures is the number of features in a parallel task, which needs about 50 µs.
	blockFeatures = 1024
)

// Tiers of features. Features of a higher tier are chosen only after all features of the lower tiers.
const (
	tierOrdinary  = iota
	tierExplained // with a novelty floor: the chosen features explain too much of the feature's variance
	tierSilent    // with a novelty floor: a = 0, the feature is unrelated to the kernel
	tierMultiple  // a multiple of a chosen feature: it adds nothing new, although it would raise the criterion if p < 1
	tierFaint     // negligible compared with the largest feature
	tierTaken
)

// search is the state of a choice. All numbers are scaled by one power of two, so that the largest Gᵢᵢ is about 1.
type search struct {
	problem Problem
	opt     Options
	exp     int
	a, g    []float64 // d: scaled A and Squares
	root    []float64 // d: √g
	r       []float64 // d: Σ_{j∈S} Gᵢⱼ²
	tier    []int8    // d: tier of each feature
	gain    []float64 // d: increase of log(N/D^p) by the feature, for features of the lowest tier
	size    []float64 // d: magnitude of the gain's terms
	n, d2   float64   // N and D²
	novelty novelty   // used if there is a floor

	Result
}

// Choose maximises N/D^p greedily, with N = Σ_{i∈S} aᵢ and D² = Σ_{i,j∈S} Gᵢⱼ² for the chosen features S, and p = 0.9
// by default. A turn costs one column of G and O(d). With a novelty floor it also costs O(d) for each feature chosen
// earlier. It needs the memory given by [ChooseBytes]. The error is a *stream.UsageError for wrong options, the
// context's error, or an error for an invalid problem.
func Choose(ctx context.Context, p Problem, opt Options) (*Result, error) {
	d := len(p.A)
	if err := opt.Validate(d); err != nil {
		return nil, err
	}
	opt = opt.withDefaults(d)
	s, err := newSearch(p, opt)
	if err != nil {
		return nil, err
	}
	for turn := range opt.K {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if turn < len(opt.Keep) {
			s.takeFeature(opt.Keep[turn])
			continue
		}
		p := s.bestFeature()
		if s.problem.Ahead != nil {
			s.problem.Ahead(p, s.likelyNextFeatures(p))
		}
		s.takeFeature(p)
	}
	return &s.Result, nil
}

func newSearch(p Problem, opt Options) (*search, error) {
	d := len(p.A)
	if len(p.Squares) != d {
		return nil, fmt.Errorf("align: %d squares for %d features", len(p.Squares), d)
	}
	s := layOutSearch(nil, d, opt.K, opt.Floor > 0)
	s.problem, s.opt = p, opt
	largest := 0.0
	for j, g := range p.Squares {
		if !(g >= 0 && g <= math.MaxFloat64 && p.A[j] >= 0 && p.A[j] <= math.MaxFloat64) {
			return nil, fmt.Errorf("align: feature %d has G = %v and a = %v", j, g, p.A[j])
		}
		largest = max(largest, g)
	}
	_, exp := math.Frexp(largest)
	s.exp = -exp
	for j, g := range p.Squares {
		s.a[j], s.g[j] = math.Ldexp(p.A[j], s.exp), math.Ldexp(g, s.exp)
		s.root[j] = math.Sqrt(s.g[j])
		if s.g[j] < leastSquare {
			s.tier[j] = tierFaint
		}
	}
	if opt.Floor > 0 {
		s.novelty.floor = opt.Floor
		copy(s.novelty.unexplained, s.g)
		for j, a := range s.a {
			if a == 0 && s.tier[j] == tierOrdinary {
				s.tier[j] = tierSilent
			}
		}
	}
	for _, j := range opt.Forbid { // they count as taken, but the criterion does not include them
		s.tier[j] = tierTaken
	}
	return s, nil
}

// bestFeature returns the feature with the largest gain. If several tie, it returns the first and records the tie.
func (s *search) bestFeature() int {
	lowest := slices.Min(s.tier)
	if lowest == tierFaint {
		return slices.Index(s.tier, tierFaint)
	}
	s.eachFeature(func(i int) {
		if s.tier[i] == lowest {
			s.computeGain(i)
		}
	})
	top := -1
	for i, t := range s.tier {
		if t == lowest && (top < 0 || s.gain[i] > s.gain[top]) {
			top = i
		}
	}
	first, tie := -1, Tie{Turn: len(s.Order)}
	for i, t := range s.tier {
		// The difference of two infinite gains is NaN. Then all criteria are 0, and the features tie.
		if t != lowest || s.gain[i] != s.gain[top] && !(s.gain[top]-s.gain[i] <= tieShare*max(s.size[i], s.size[top])) {
			continue
		}
		switch {
		case first < 0:
			first = i
		case tie.Others == 0:
			tie.First = i
			fallthrough
		default:
			tie.Others++
		}
	}
	if tie.Others > 0 {
		s.Ties = append(s.Ties, tie)
	}
	return first
}

// mostLikely is the largest number of likely features passed to Ahead.
const mostLikely = 7

func (s *search) likelyNextFeatures(taken int) []int {
	list := make([]int, 0, mostLikely+1)
	for i, t := range s.tier {
		if t != s.tier[taken] || i == taken || len(list) == mostLikely && !(s.gain[i] > s.gain[list[mostLikely-1]]) {
			continue
		}
		at := len(list)
		for at > 0 && s.gain[i] > s.gain[list[at-1]] {
			at--
		}
		list = slices.Insert(list, at, i)[:min(len(list)+1, mostLikely)]
	}
	return list
}

func (s *search) eachFeature(visit func(i int)) {
	d := len(s.a)
	kernel.Each(s.opt.Threads, (d+blockFeatures-1)/blockFeatures, func(b int) {
		for i := b * blockFeatures; i < min((b+1)*blockFeatures, d); i++ {
			visit(i)
		}
	})
}

// computeGain computes the increase of log(N/D^p) by feature i (for N, D and p see Choose), and the magnitude of its
// terms. It uses Log1p of relative increases, which is precise for features that are small compared with the choice. If
// N is 0, a relative increase is not defined. The gain is then the value of log(N/D^p) with feature i, so that
// differences between gains still are differences of the criterion's logarithm.
func (s *search) computeGain(i int) {
	more := 2*s.r[i] + s.g[i]*s.g[i]
	if s.n == 0 {
		s.gain[i], s.size[i] = math.Log(s.a[i])-s.opt.Power/2*math.Log(s.d2+more), 1
		return
	}
	up, down := math.Log1p(s.a[i]/s.n), s.opt.Power/2*math.Log1p(more/s.d2)
	s.gain[i], s.size[i] = up-down, up+down
}

func (s *search) takeFeature(feature int) {
	tier := s.tier[feature]
	switch tier {
	case tierMultiple:
		s.Copies++
	case tierFaint:
		s.Faint++
	}
	s.n += s.a[feature]
	s.d2 += 2*s.r[feature] + s.g[feature]*s.g[feature]
	column := s.problem.Column(feature)
	s.eachFeature(func(i int) {
		v := math.Ldexp(column[i], s.exp)
		s.r[i] += v * v
		if tier != tierFaint && s.tier[i] < tierMultiple && math.Abs(v)/s.root[i]/s.root[feature] >= copyCosine {
			s.tier[i] = tierMultiple
		}
	})
	s.updateNovelty(feature, column)
	s.tier[feature] = tierTaken
	s.Order = append(s.Order, feature)
	alignment := 0.0
	if s.d2 > 0 && s.problem.Norm > 0 {
		alignment = min(s.n/math.Sqrt(s.d2)/s.problem.Norm, 1) // above 1 is rounding error
	}
	s.Alignment = append(s.Alignment, alignment)
}

// ChooseBytes bounds the memory of Choose for k of d features, in addition to the problem. floor adds a novelty floor.
func ChooseBytes(d, k int, floor bool) int64 {
	return room.Measure(func(l *room.Layout) { layOutSearch(l, d, k, floor) })
}

func layOutSearch(l *room.Layout, d, k int, hasFloor bool) *search {
	s := &search{tier: room.Slice[int8](l, d)}
	for _, list := range []*[]float64{&s.a, &s.g, &s.root, &s.r, &s.gain, &s.size} {
		*list = room.Slice[float64](l, d)
	}
	s.Order, s.Alignment, s.Ties = room.Slice[int](l, k)[:0], room.Slice[float64](l, k)[:0], room.Slice[Tie](l, k)[:0]
	if hasFloor {
		s.novelty.layOut(l, d, k)
	}
	return s
}
