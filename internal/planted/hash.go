package planted

import "github.com/ufs-stream/ufs-stream/internal/splitmix"

// Series numbers: factors come first, then the table's own draws, then one series
// for every column's noise.
const (
	orderSeries = 1<<32 + iota
	offsetSeries
	scaleSeries
	signSeries
	classSeries
	firstSeries = 1 << 33
)

// Series is an endless sequence of random numbers that can be entered at any place:
// each is a hash of seed, series and place.
type Series uint64

// NewSeries is series number n of a seed.
func NewSeries(seed, n uint64) Series { return Series(splitmix.Hash(seed, n)) }

// Bits is the number at a place: 64 random bits.
func (s Series) Bits(at int64) uint64 { return splitmix.Mix(uint64(s) + uint64(at)) }

// Normal is nearly a standard normal number: the sum of four 16-bit uniform ones,
// whose variance is 4·(2³²-1)/12. It needs no logarithm, so every machine gives the
// same bits.
func (s Series) Normal(at int64) float64 {
	const invDeviation = 2.64289979213030e-05 // 1/√(4·(2³²-1)/12)
	h := s.Bits(at)
	sum := h&0xFFFF + h>>16&0xFFFF + h>>32&0xFFFF + h>>48
	return (float64(int64(sum)) - 2*0xFFFF) * invDeviation
}

// series is a series of the table's seed.
func (t *Table) series(n uint64) Series { return NewSeries(t.opt.Seed, n) }
