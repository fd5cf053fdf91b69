package hvg

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods/baseline"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares seurat, seurat_v3 and cell_ranger.
func Specs() []method.Spec {
	takes := method.Takes{
		Factor: true, Scales: []gram.Scale{gram.ScaleNone},
		WhyScales: stream.Textf("it compares variances with means, so that columns keep their scale; want none"),
		RowScales: []string{"cp10k", ""}, WhyRowScales: stream.Textf("it wants rows of one total, and their values, not logarithms"),
	}
	spec := func(name, about string, takes method.Takes, guide method.Guide, m method.Method) method.Spec {
		return method.Spec{Name: name, About: about, Guide: guide, From: method.FromProfile, Scale: gram.ScaleNone, Takes: takes, New: func() method.Method { return m }}
	}
	logs, counts := takes, takes
	logs.RowScales = []string{"cp10k,log1p", "cp10k", ""}
	logs.WhyRowScales = stream.Textf("it wants rows of one total")
	counts.RowScales = []string{""}
	counts.WhyRowScales = stream.Textf("it models the variance of counts; want none")
	counts.Rereads = true
	const caution = "it scores genes one by one, so that the first ones may be copies, and genes of most cells score like those of few"
	return []method.Spec{
		spec("seurat", "the genes that vary most beyond others of their mean, by logarithms (Satija et al. 2015)", takes, method.Guide{
			When: "genes of single cells, to compare with Seurat's mean.var.plot and scanpy's seurat", Time: "d", Caution: caution,
		}, &geneMethod{selectGenes: selectBySeurat}),
		spec("cell_ranger", "the genes that vary most beyond others of their mean, by medians (Zheng et al. 2017)", logs, method.Guide{
			When: "genes of single cells, to compare with scanpy's cell_ranger", Time: "d", Caution: caution,
		}, &geneMethod{selectGenes: selectByCellRanger}),
		spec("seurat_v3", "the genes of largest variance once it is standardized by a regression on the mean (Stuart et al. 2019)", counts, method.Guide{
			When: "counts of single cells, to compare with Seurat's vst and scanpy's seurat_v3", Time: "0.3·d² for the regression, and a pass over the rows", Caution: caution,
		}, &geneMethod{rereads: true, selectGenes: selectByRegression}),
	}
}

// computeMoments returns the means and variances (divisor n−1) of the features, whose values must not be negative.
func computeMoments(e *method.Evidence, name string) (mean, variance []float64, err error) {
	mean, variance = e.Std.Mean, make([]float64, len(e.Std.Std))
	for k, j := range e.Std.Columns {
		if low := e.Profile.Columns[j].Min; low < 0 {
			err := stream.Dataf("", "method %s takes counts, or counts that were scaled by rows, and the least value is %v", name, low)
			err.Column = e.Columns[k].Name
			err.Remedy = stream.Textf("{exclude} columns that are no counts, or choose another {method}, as variance")
			return nil, nil, err
		}
		variance[k] = e.Std.Std[k] * e.Std.Std[k] * (e.Std.Weight / (e.Std.Weight - 1))
	}
	return mean, variance, nil
}

func rankScores(e *method.Evidence, scores []float64) *method.Ranking {
	order, warnings := baseline.Rank(scores, e.Columns, e.K)
	return &method.Ranking{Order: order, Scores: scores, Warnings: stream.PlainTexts(warnings)}
}

// geneMethod is one of the three methods.
type geneMethod struct {
	rereads     bool
	selectGenes func(context.Context, *method.Evidence) (*method.Ranking, error)
}

func (*geneMethod) Options(*method.Options) {}

func (m *geneMethod) Cost(s method.Shape) (method.Cost, error) {
	c := method.Cost{Bytes: 12 * 8 * int64(len(s.Columns))}
	if m.rereads {
		c.Passes = method.Passes{Most: 1, Why: stream.Textf("one to clip large values, if there are any")}
	}
	return c, nil
}

func (m *geneMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	return m.selectGenes(ctx, e)
}

func selectBySeurat(_ context.Context, e *method.Evidence) (*method.Ranking, error) {
	mean, variance, err := computeMoments(e, "seurat")
	if err != nil {
		return nil, err
	}
	return rankScores(e, ScoreSeurat(mean, variance)), nil
}

func selectByCellRanger(_ context.Context, e *method.Evidence) (*method.Ranking, error) {
	mean, variance, err := computeMoments(e, "cell_ranger")
	if err != nil {
		return nil, err
	}
	scores, unscored := ScoreCellRanger(mean, variance)
	r := rankScores(e, scores)
	if unscored > 0 {
		r.Warnings = append(r.Warnings, stream.PlainText(fmt.Sprintf("%d features have no score, because more than half of the features of their mean have the same dispersion", unscored)))
	}
	return r, nil
}

// span is the share of the columns in each local regression.
const span = 0.3

func selectByRegression(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	mean, variance, err := computeMoments(e, "seurat_v3")
	if err != nil {
		return nil, err
	}
	var x, y []float64
	for k, v := range variance {
		if hasDispersion(mean[k], v) {
			x, y = append(x, math.Log10(mean[k])), append(y, math.Log10(v))
		}
	}
	fitted := FitLoess(x, y, span, e.Threads)
	expected, limits, clipped := make([]float64, len(mean)), make([]float64, len(mean)), 0
	for k, j := range e.Std.Columns {
		if expected[k] = 1; hasDispersion(mean[k], variance[k]) {
			expected[k], fitted = math.Pow(10, fitted[0]), fitted[1:]
		}
		if limits[k] = mean[k] + math.Sqrt(expected[k]*e.Std.Weight); e.Profile.Columns[j].Max > limits[k] {
			clipped++
		}
	}
	scores, passes := make([]float64, len(mean)), 0
	switch {
	case clipped > 0 && e.Source == nil:
		return nil, stream.Usagef("method seurat_v3 clips large values of %d features, for which it reads the rows again, and statistics have none; select from the data", clipped)
	case clipped > 0:
		passes = 1
		e.Pass(1, "clipped variances")
		sums := newClippedSquares(e.Std, len(e.Profile.Columns), limits)
		if err := stream.Fold(ctx, e.Source, stream.FoldOptions{Meter: e.Meter}, sums); err != nil {
			return nil, err
		}
		for k, s := range sums.addOmittedZeros() {
			scores[k] = s / (e.Std.Weight - 1) / expected[k]
		}
	default:
		for k, v := range variance {
			scores[k] = v / expected[k]
		}
	}
	r := rankScores(e, scores)
	r.Passes = passes
	return r, nil
}
