package anchor

import (
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// HashBound returns a bound on hashes for a sample of the given number of rows from a table with tableRows rows. The
// hashes of all rows in the sample are almost certainly at most this bound. So every part of the table can skip all
// rows with higher hashes. The result is 0, which means no bound, if a bound would save nothing. To find the exact
// bound, every part would have to hash every row of the whole table, while this estimate costs nothing.
//
// Hashes behave like uniform random numbers. Let X be the number of the n rows whose hashes are in the lowest share p
// of all hashes, with p chosen so that the mean of X is λ = n·p = r + 10·√r + 50 for a sample of r rows. By Chernoff,
// P(X < r) ≤ exp(−(λ−r)²/(2λ)). This falls with r: 2·10⁻¹³ for 1 row, 3·10⁻²⁰ for 100, 2·10⁻²² for 10,000.
// [Sampler.Short] detects the case X < r.
func HashBound(rows int, tableRows int64) uint64 {
	r := float64(rows)
	share := (r + 10*math.Sqrt(r) + 50) / float64(tableRows)
	if rows <= 0 || tableRows <= 0 || share >= 1 {
		return 0
	}
	return uint64(math.Ldexp(share, 64))
}

// Short fails if s, the sample of a table with the given number of rows, has fewer rows than it should keep. In this
// case the bound for the parts of the table was too low.
func (s *Sampler) Short(rows int64) error {
	if want := min(int64(s.opt.Rows), rows); int64(s.Len()) < want {
		return ShortSample(int64(s.Len()), want, s.opt.Seed)
	}
	return nil
}

// ShortSample returns the error for a sample that has only the given number of rows, but should have `want` rows. The
// bound with which the parts of the table were sampled was too low for this seed.
func ShortSample(rows, want int64, seed uint64) error {
	return stream.Usagef("the sample has %d rows of %d: the rows of {seed} %d are spread unusually, so that its parts passed over too many (less than once in 10¹² seeds); scan all parts again with another {seed}",
		rows, want, seed)
}
