package planted

import "github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"

// Each series of random numbers has a number. Series below orderSeries are for the factors, one for each. The series
// from orderSeries on are for choices about the whole table, and the series from firstSeries on for the noise of the
// columns, one for each.
const (
	orderSeries = 1<<32 + iota
	offsetSeries
	scaleSeries
	signSeries
	classSeries
	firstSeries = 1 << 33
)

// Series is an endless sequence of random numbers. Each number is a hash of seed, series and index.
type Series uint64

// NewSeries returns the series with the number n among the series of a seed.
func NewSeries(seed, n uint64) Series { return Series(splitmix.Hash(seed, n)) }

// Bits returns the 64 random bits with the given index.
func (s Series) Bits(at int64) uint64 { return splitmix.Mix(uint64(s) + uint64(at)) }

// Normal returns an approximately standard normal number: the sum of four uniform 16-bit numbers, whose variance is
// 4·(2³²-1)/12. It needs no logarithm, so every machine computes the same bits.
func (s Series) Normal(at int64) float64 {
	const invDeviation = 2.64289979213030e-05 // 1/√(4·(2³²-1)/12)
	h := s.Bits(at)
	sum := h&0xFFFF + h>>16&0xFFFF + h>>32&0xFFFF + h>>48
	return (float64(int64(sum)) - 2*0xFFFF) * invDeviation
}

func (t *Table) newSeries(n uint64) Series { return NewSeries(t.opt.Seed, n) }
