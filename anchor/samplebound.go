package anchor

import (
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// HashBound returns a bound on hashes for a table of tableRows rows. The rows with hashes below it almost certainly
// include the sample of the given number of rows, so a part of the table can skip all other rows. 0 means that there
// is no bound, because a bound would save nothing. To find the exact hash, every part would have to hash every row of
// the whole table, while this bound costs nothing.
//
// The hashes are like uniform numbers. Let X be the number of the n rows with hashes below a share p, with the mean λ
// = n·p = r + 10·√r + 50. By Chernoff, P(X < r) ≤ exp(−(λ−r)²/(2λ)), which falls with r: 2·10⁻¹³ for 1 row, 3·10⁻²⁰
// for 100, 2·10⁻²² for 10,000. Short detects this case.
func HashBound(rows int, tableRows int64) uint64 {
	r := float64(rows)
	share := (r + 10*math.Sqrt(r) + 50) / float64(tableRows)
	if rows <= 0 || tableRows <= 0 || share >= 1 {
		return 0
	}
	return uint64(math.Ldexp(share, 64))
}

// Short fails if s, a sample of a table with the given number of rows, has fewer rows than it should keep. The bound
// of its parts was then too low.
func (s *Sampler) Short(rows int64) error {
	if want := min(int64(s.opt.Rows), rows); int64(s.Len()) < want {
		return ShortSample(int64(s.Len()), want, s.opt.Seed)
	}
	return nil
}

// ShortSample returns the error for a sample with too few rows, because the bound of its parts was too low for its
// seed.
func ShortSample(rows, want int64, seed uint64) error {
	return stream.Usagef("the sample has %d rows of %d: the rows of {seed} %d are spread unusually, so that its parts passed over too many (less than once in 10¹² seeds); scan all parts again with another {seed}",
		rows, want, seed)
}
