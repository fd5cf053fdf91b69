package survey

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/spectral"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// DefaultAnchors is the default number of rows in the graph.
	DefaultAnchors = 1000
	// maxVariance keeps squares within float64.
	maxVariance = 1e150
	// leadingCount is the number of leading eigenvalues that are summed for the test of clusters.
	leadingCount = 10
	// leastExcess is the least excess, over the surrogate, of the sum of the leading eigenvalues that indicates clusters,
	// and leastShareExcess is the least excess of the mean of the columns' shares. Over 30 surveys of tables of factors (3
	// to 40, with 1,000 anchors) the excess of the sum was 0.01 with a deviation of 0.03, and 0.057 at most. On 36 sets
	// with labels it is above 0.08, except on two (waveform_noise, wdbc). The eigenvalues alone do not detect the clusters
	// of lakes whose factors follow them. The excess of their shares is 0.1, and never 0.03 for lakes without clusters.
	leastExcess      = 0.08
	leastShareExcess = 0.06
	// noveltyFloor excludes a second sensor of the same factor with a correlation ρ of 0.91 or more, which keeps the share
	// 1 − ρ⁴. See package align.
	noveltyFloor = 0.3
	// countsPower is the exponent for counts, whose clusters each have many correlated words. On three sets of texts the
	// NMI at 2 and 5 % of the features is 28 and 34 with 0.7, 27 and 29 with 0.5, and 13 with 0.9. Variance has 17 and 22.
	countsPower = 0.7
	// chanceShare is the typical difference of shares between two surrogates of 1,000 rows.
	chanceShare = 0.05
)

// ExamineTable surveys a table. It fails if the scale is unknown, the shape of the table is inconsistent, or ctx ends.
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
	if opt.Limit == 0 {
		opt.Limit = math.MaxInt64
	}
	if opt.Diffusion == 0 {
		opt.Diffusion = spectral.DefaultDiffusion
	}
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

// surveyRun is the state of a survey.
type surveyRun struct {
	*Survey
	table *Table
	opt   Options
	team  *kernel.Team
	m     int // number of anchors
}
