package survey

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// DefaultAnchors is the default number of rows in the graph.
	DefaultAnchors = 1000
	// maxVariance is the largest variance of a usable column. Its square is still a finite float64.
	maxVariance = 1e150
	// leadingCount is the number of leading eigenvalues whose sum is used to test for clusters.
	leadingCount = 10
	// minExcess is the least excess of the sum of the leading eigenvalues over the surrogate's sum that indicates
	// clusters. minShareExcess is the least such excess of the mean share of a column that the graph explains. Over 30
	// surveys of tables of 3 to 40 factors, with 1,000 anchors, the excess of the sum was 0.01 on average, with a
	// standard deviation of 0.03, and 0.057 at most. On 36 sets with labels it is above 0.08, except on two
	// (waveform_noise, wdbc). Eigenvalues alone do not detect the clusters of tables (lakes) whose factors follow the
	// clusters: there the excess of the mean share is 0.1. For lakes without clusters it is below 0.03.
	minExcess      = 0.08
	minShareExcess = 0.06
	// noveltyFloor is the least novelty of a column that may still be chosen (see package align). A chosen column
	// reduces the novelty of another column to 1 − ρ⁴, ρ being their correlation. So a second sensor of the same factor
	// is excluded if ρ is 0.91 or more.
	noveltyFloor = 0.3
	// countsPower is the exponent that align.Choose uses for counts. Every cluster of texts has many correlated words.
	// On three sets of texts the NMI at 2 % and 5 % of the features is 28 and 34 with exponent 0.7, and 27 and 29 with
	// 0.5. With 0.9 it is 13 in both cases. Choosing by variance gives 17 and 22.
	countsPower = 0.7
	// chanceShare is the typical difference between the shares that the graphs of two surrogates, of 1,000 rows,
	// explain of the same column.
	chanceShare = 0.05
)

// ExamineTable surveys a table. It fails if opt.Scale is unknown, the shape of the table is inconsistent, or ctx ends.
func ExamineTable(ctx context.Context, t *Table, opt Options) (*Survey, error) {
	if len(t.Columns) != t.Cols || t.Thin == nil && len(t.Values) != t.Rows*t.Cols || t.Thin != nil && len(t.Thin.RowPtr) != t.Rows+1 {
		return nil, fmt.Errorf("survey: a table of %d×%d has %d columns and %d values", t.Rows, t.Cols, len(t.Columns), len(t.Values))
	}
	s := &Survey{Shares: make([]float64, t.Cols), Floor: noveltyFloor}
	if err := s.decideScale(t, opt.Scale); err != nil {
		return nil, err
	}
	opt.Anchors = min(cmp.Or(opt.Anchors, DefaultAnchors), t.Rows)
	opt.Neighbors = cmp.Or(opt.Neighbors, anchor.DefaultNeighbors)
	opt.Limit = cmp.Or(opt.Limit, math.MaxInt64)
	opt.Diffusion = cmp.Or(opt.Diffusion, spectral.DefaultDiffusion)
	if opt.Anchors <= opt.Neighbors {
		s.addWarning("%d rows are too few for a graph of %d {neighbors}", opt.Anchors, opt.Neighbors)
		s.Greedy, s.WhyGreedy = true, stream.Textf("%d rows are too few for a graph of %d {neighbors}", opt.Anchors, opt.Neighbors)
		return s, ctx.Err()
	}
	l := &surveyRun{Survey: s, table: t, opt: opt, team: kernel.NewTeam(opt.Threads), m: opt.Anchors}
	survey := l.surveyDense
	if s.Cosine || t.Thin != nil {
		survey = l.surveyCounts
	}
	if err := survey(ctx); err != nil {
		return nil, err
	}
	s.decideMethod(t)
	return s, nil
}

func (s *Survey) addWarning(format string, args ...any) {
	s.Warnings = append(s.Warnings, stream.Textf(format, args...))
}

type surveyRun struct {
	*Survey
	table *Table
	opt   Options
	team  *kernel.Team
	m     int // number of anchors
}
