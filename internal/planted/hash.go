package planted

import "github.com/ufs-stream/ufs-stream/internal/splitmix"

// Series numbers. The numbers of the factors come first, then the table's own random choices, then one series for the
// noise of each column.
const (
	orderSeries = 1<<32 + iota
	offsetSeries
	scaleSeries
	signSeries
	classSeries
	firstSeries = 1 << 33
)

// Series is an endless sequence of random numbers with random access: each number is a hash of seed, series and index.
type Series uint64

// NewSeries returns series number n of a seed.
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

func (t *Table) seedSeries(n uint64) Series { return NewSeries(t.opt.Seed, n) }
