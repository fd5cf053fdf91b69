package triangle

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
)

// CutRuns cuts the rows of the upper triangle of G into runs of consecutive rows, each of at most maxNumbers
// float64s if a single row does not have more. One pass over A computes one run.
func CutRuns(d int, maxNumbers int64) [][2]int {
	var runs [][2]int
	for from := 0; from < d; {
		to := min(d, from+int(max(maxNumbers/int64(d-from), 1)))
		runs = append(runs, [2]int{from, to})
		from = to
	}
	return runs
}

// Passes computes G from the rows, in runs of consecutive rows of its upper triangle.
type Passes struct {
	Rows       *scan.Reader
	Sketch     *scan.Sketch // the first run adds the rows to it; may be nil
	Chosen     []bool       // features that do not count; may be nil
	Purpose    string       // of the passes
	MaxNumbers int64        // float64s for the rows of G that are held at a time
}

// computeTriangle writes rows [from, to) of the upper triangle of G to acc. It makes a pass over the rows of the data,
// which also adds them to the sketch if sketches is true, or uses rows in memory. Then finish computes the outputs.
func (s *Passes) computeTriangle(ctx context.Context, purpose string, acc []float64, from, to int, sketches bool, finish func(), outputs ...[]float64) error {
	if s.Rows.InMemory && !sketches {
		s.Rows.WriteTriangle(acc, from, to)
		finish()
		return ctx.Err()
	}
	acc = acc[:(to-from)*(s.Rows.D-from)]
	clear(acc)
	add, rest := s.addWithSketch(sketches, func(b *scan.Block) { s.Rows.AddTriangle(b, acc, from, to) })
	return s.Rows.RunPass(ctx, scan.Pass{Purpose: purpose, Sums: append(rest, acc), AddBlock: add, Finish: func() {
		s.Rows.UnshiftTriangle(acc, from, to)
		if sketches {
			s.Sketch.RemoveShift(s.Rows)
		}
		finish()
	}, Outputs: append(rest, outputs...)})
}

// addWithSketch returns add, or if sketches is true a function that also adds to the sketch, and the sketch's sums.
func (s *Passes) addWithSketch(sketches bool, add func(*scan.Block)) (both func(*scan.Block), sums [][]float64) {
	if !sketches {
		return add, nil
	}
	return func(b *scan.Block) {
		add(b)
		s.Sketch.AddRows(s.Rows, b)
	}, slices.Clip(s.Sketch.PassSums())
}
