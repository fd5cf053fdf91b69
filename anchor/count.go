package anchor

import "github.com/ufs-stream/ufs-stream/stream"

// MostAnchors is the largest default number of anchors. On mnist10k more anchors do not improve the selection. Up to
// this number, the eigenpairs of S take only seconds.
const MostAnchors = 2000

// Count returns the number of anchors for a table of the given number of used rows. This is requested or, if requested
// is 0, every row up to 2,000 rows, and 2,000 beyond. If there are few rows, each of them counts: with a quarter of
// them as anchors, laplacian, mcfs and align lose all that they gain over other methods. The number must exceed the
// number of neighbours, because the weights need the distance of one more anchor, and must not exceed the number of
// rows. Otherwise the error is a *stream.UsageError.
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

func checkAnchorCount(m, neighbors int) error {
	if neighbors < 1 {
		return stream.Usagef("{neighbors} %d is not positive", neighbors)
	}
	if m <= neighbors {
		return stream.Usagef("%d anchors are too few for {neighbors} %d: weights need the distance of one more, so at least %d",
			m, neighbors, neighbors+1)
	}
	return nil
}

// SampleRows returns the number of rows that a [Sampler] should keep for m k-means anchors of a table of d columns:
// 10·m, but at least 10,000. If these do not fit twice into the given bytes (raw, and as points), it returns the
// number that fits, but at least m.
func SampleRows(m, d int, bytes int64) int {
	rows := max(10*m, 10_000)
	if each := 2 * sampleBytes(1, d); bytes/each < int64(rows) {
		rows = int(bytes / each)
	}
	return max(rows, m)
}
