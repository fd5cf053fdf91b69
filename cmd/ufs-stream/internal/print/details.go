package print

import (
	"io"
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// WriteDetails writes the reports of s on all features, chosen or not, as Parquet, with their ranks and scores.
func WriteDetails(w io.Writer, s *stream.Selection) error {
	n := len(s.Columns)
	ranks, scores, places := make([]int, n), make([]stream.Number, n), make(map[string]int, n)
	for i, c := range s.Columns {
		places[c.Name], scores[i] = i, stream.Number(math.NaN())
		if i < len(s.Scores) {
			scores[i] = s.Scores[i].Score
		}
	}
	for _, f := range s.Selected {
		for k, feature := range f.Features() {
			i := places[feature]
			if ranks[i] = f.Rank; k == 0 && len(s.Scores) == 0 {
				scores[i] = f.Score
			}
		}
	}
	at := func(i int) *stream.ColumnReport { return &s.Columns[i] }
	return writeParquet(w, []column{
		{name: "name", value: func(i int) string { return at(i).Name }},
		{name: "column", value: func(i int) stream.Position { return at(i).Column }},
		{name: "rank", value: func(i int) int { return ranks[i] }},
		{name: "score", value: func(i int) stream.Number { return scores[i] }},
		{name: "mean", value: func(i int) stream.Number { return at(i).Mean }},
		{name: "std", value: func(i int) stream.Number { return at(i).Std }},
		{name: "nulls", value: func(i int) int { return int(at(i).Nulls) }},
		{name: "nan", value: func(i int) int { return int(at(i).NaNs) }},
		{name: "inf", value: func(i int) int { return int(at(i).Infs) }},
		{name: "filled", value: func(i int) int { return int(at(i).Filled) }},
		{name: "explained", value: func(i int) stream.Number { return at(i).Explained }},
		{name: "nearest", value: func(i int) string { return at(i).Nearest }},
	}, n)
}
