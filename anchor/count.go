package anchor

import "github.com/ufs-stream/ufs-stream/stream"

// MostAnchors is the largest default number of anchors. On mnist10k the selection does not improve with more anchors.
// Up to this number, computing the eigenpairs of S (see [Graph]) needs only seconds.
const MostAnchors = 2000

// Count returns the number of anchors for a table with the given number of used rows: the number requested by the user,
// if it is not 0. Otherwise every row is an anchor in tables of up to 2,000 rows, and larger tables have 2,000 anchors.
// Tables of few rows need all of them: with a quarter of the rows as anchors, laplacian, mcfs and align lose all that
// they gain over other methods. The number must exceed the number of neighbours, because the weights need the distance
// of one more anchor, and must not exceed the number of rows. Otherwise the error is a *stream.UsageError.
func Count(requested int, rows int64, neighbors int) (int, error) {
	m := requested
	switch {
	case requested < 0:
		return 0, stream.Usagef("{anchors} %d is negative", requested)
	case requested == 0:
		m = int(min(rows, MostAnchors))
	}
	if err := checkAnchorCount(m, neighbors); err != nil {
		if requested == 0 && int64(m) == rows {
			return 0, stream.Usagef("%v; there are only %d rows: lower {neighbors}", err, rows)
		}
		return 0, err
	}
	if int64(m) > rows {
		return 0, stream.Usagef("{anchors} %d: there are only %d rows", m, rows)
	}
	return m, nil
}

func checkAnchorCount(anchorCount, neighbors int) error {
	if neighbors < 1 {
		return stream.Usagef("{neighbors} %d is not positive", neighbors)
	}
	if anchorCount <= neighbors {
		return stream.Usagef("%d anchors are too few for {neighbors} %d: weights need the distance of one more, so at least %d",
			anchorCount, neighbors, neighbors+1)
	}
	return nil
}

// SampleRows returns the number of rows that a [Sampler] should keep for m k-means anchors of a table of d columns:
// 10·m, but at least 10,000. The rows are held twice, raw and as points. If both do not fit in the given bytes,
// SampleRows returns the largest number of rows that fits, but at least m.
func SampleRows(m, d int, bytes int64) int {
	rows := max(10*m, 10_000)
	if each := 2 * sampleBytes(1, d); bytes/each < int64(rows) {
		rows = int(bytes / each)
	}
	return max(rows, m)
}
