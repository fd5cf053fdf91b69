package planted

// Series numbers: factors come first, then the table's own draws, then one series
// for every column's noise.
const (
	orderSeries = 1<<32 + iota
	offsetSeries
	scaleSeries
	signSeries
	firstSeries = 1 << 33
)

// hash is a number for a place in a series: three rounds of SplitMix64's finalizer
// (Steele, Lea, Flood: Fast splittable pseudorandom number generators).
func (t *Table) hash(series uint64, at int64) uint64 {
	return mix(mix(mix(t.opt.Seed)+series) + uint64(at))
}

func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// normal is nearly a standard normal number: the sum of four 16-bit uniform ones,
// whose variance is 4·(2³²-1)/12. It needs no logarithm, so every machine gives the
// same bits.
func (t *Table) normal(series uint64, at int64) float64 {
	const invDeviation = 2.64289979213030e-05 // 1/√(4·(2³²-1)/12)
	h := t.hash(series, at)
	sum := h&0xFFFF + h>>16&0xFFFF + h>>32&0xFFFF + h>>48
	return (float64(sum) - 2*0xFFFF) * invDeviation
}
