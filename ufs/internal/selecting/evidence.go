package selecting

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// Trial is a run of a selection whose data are ready for the method. It holds the method's evidence, i.e. the
// statistics or rows from which the method selects, and the data for the report on the features.
type Trial struct {
	run      *settled.Run
	Gatherer *gathering.Gatherer
	*method.Evidence
	bundle    *statistics.Bundle
	Selection *stream.Selection

	// These slices have one value for each of Evidence.Columns.
	Index             []int // the feature's index in bundle.columns
	Means, Deviations []float64
	filled            []int64 // number of filled missing entries

	ExplainGram     *gram.Matrix // Gram matrix from which a ranking's explained shares are computed, or nil
	explainFeatures []int        // the features of ExplainGram; nil means all features
	scratch         *scratch.Space

	candidates *choice.Candidates
}

// NewTrial makes the method's evidence from the statistics e, which must not be used afterwards. It records in s which
// features take part.
func NewTrial(g *gathering.Gatherer, e *statistics.Bundle, s *stream.Selection) (*Trial, error) {
	t, err := NewUnboundTrial(g, e, s)
	if err != nil {
		return nil, err
	}
	s.Features = len(t.Columns)
	if err := t.setCandidates(s.LeftOut, true); err != nil {
		return nil, errors.Join(err, t.Close(s))
	}
	if t.run.ReportsSizes && t.Budget > 0 && t.HasCosts() {
		return nil, errors.Join(stream.Usagef("path: the choice within {budget} is the better of two for one number of candidates, and the first of it are not the best fewer; leave {-budget} out, as the path says what they cost together, or select with each {k}"), t.Close(s))
	}
	if t.K = g.Run.Choice.K; t.K == 0 && !g.Run.Bound.Takes.Nested && !g.Run.Choice.AutoK {
		if t.K = t.candidates.Choosable; g.Run.Choice.Budget == 0 {
			t.K = min(request.DefaultK, t.K)
		}
	}
	if err := t.candidates.CheckCount(t.K, s.LeftOut); err != nil {
		return nil, errors.Join(err, t.Close(s))
	}
	return t, nil
}

func (t *Trial) setCandidates(leftOut []stream.LeftOut, strict bool) (err error) {
	if t.candidates, err = choice.NewCandidates(t.run, t.Columns, leftOut, strict); err == nil {
		t.Choice, t.Keep = t.candidates.Choice, t.candidates.Keep
	}
	return err
}

// NewUnboundTrial does the work of NewTrial, except that it does not determine the number of features to choose and the
// constraints on the choice.
func NewUnboundTrial(g *gathering.Gatherer, e *statistics.Bundle, s *stream.Selection) (*Trial, error) {
	t := &Trial{run: g.Run, Gatherer: g, bundle: e, Selection: s, Evidence: &method.Evidence{
		Variance: g.Run.Choice.Variance, MinGain: g.Run.Choice.MinGain, Scale: g.Run.ParsedScale, Fill: request.MissingFill(&g.Run.Request), Missing: request.MissingPolicy(&g.Run.Request) == stream.MissingKeep,
		Seed: g.Run.Choice.Seed, Threads: g.Run.Limits.Threads, Meter: g.Run.Hooks.Meter,
		Profile: e.Profile, Rows: e.Profile.Rows, Parallel: e.Plan.ParallelSettings,
		Release: func() error { return nil }, Pass: func(int, string) {}, Iteration: func(int, float64) {},
	}}
	var err error
	switch {
	case g.Run.Bound.From.UsesGraph():
		err = t.setGraphEvidence()
	case g.Run.Bound.From.UsesRows():
		err = t.setRowEvidence()
	case e.Sketch != nil:
		err = useSketch(t)
	case e.Moments != nil || e.Factor != nil:
		err = t.setGramEvidence()
	default:
		err = t.setProfileEvidence()
	}
	if err != nil {
		return nil, err
	}
	t.LeftOut = s.LeftOut
	return t, nil
}

func (t *Trial) setFeatures(index []int, mean, std []float64, filled []int64, leftOut []stream.LeftOut, warnings []string) {
	if raw := t.bundle.RawProfile; raw != nil { // scale rank: reports describe the values, not their normal scores
		mean, std, filled = make([]float64, len(index)), make([]float64, len(index)), make([]int64, len(index))
		for k, j := range index {
			mean[k], std[k] = raw.Spread(j, t.Fill)
			if t.Fill != gram.FillPairwise {
				filled[k] = raw.Rows - raw.Columns[j].Observed
			}
		}
	}
	t.Index, t.Means, t.Deviations, t.filled = index, mean, std, filled
	for _, j := range index {
		t.Columns = append(t.Columns, t.bundle.Columns[j])
	}
	for _, l := range leftOut { // columns in bundle.leftOut were recorded earlier
		if !slices.ContainsFunc(t.bundle.LeftOut, func(own stream.LeftOut) bool { return own.Name == l.Name }) {
			t.Selection.LeftOut = append(t.Selection.LeftOut, l)
		}
	}
	t.Selection.Warnings = append(t.Selection.Warnings, warnings...)
}

func (t *Trial) setGramEvidence() error {
	m, err := t.bundle.FinishGram(gram.FinishOptions{Scale: t.run.ParsedScale, Fill: t.Fill, Centred: t.run.Bound.Takes.Sample})
	if err != nil {
		return err
	}
	if t.bundle.TakesPart != nil {
		m.Keep(t.bundle.TakesPart)
	}
	if t.Fill == gram.FillPairwise {
		c, err := linalg.ClipNegative(kernel.NewTeam(t.Threads), kernel.RowMajor(m.Sym, m.D, m.D, m.D))
		if err != nil {
			return fmt.Errorf("eigenvalues of the pairwise covariances: %w", err)
		}
		if c.Count > 0 {
			t.warn("the pairwise covariances have %s, together %.2g %% of the trace, which no data have: they are taken to be 0", wording.CountNoun(c.Count, "negative eigenvalue"), 100*c.Share)
		}
	}
	t.Gram = m
	t.setFeatures(m.Columns, m.Mean, m.Std, m.Filled, m.LeftOut, m.Warnings)
	if t.run.Bound.Takes.Sample {
		t.ExplainGram = &t.Gram.Matrix
		copySurveyToEvidence(t)
	}
	return nil
}

func copySurveyToEvidence(t *Trial) {
	s := t.bundle.Survey
	t.Survey = &method.Survey{Norm: s.Norm, Floor: s.Floor, Power: s.Power, Warnings: s.Warnings}
	for _, j := range t.Index {
		t.Survey.Shares = append(t.Survey.Shares, s.Shares[j])
	}
}

// setProfileEvidence makes the evidence for methods that use only a profile (mean, spread and range of each column),
// and for methods that read the rows again instead of using the Gram matrix.
func (t *Trial) setProfileEvidence() error {
	std, err := gram.NewStandardizer(t.bundle.Profile, t.bundle.Columns, t.run.ParsedScale, t.Fill)
	if err != nil {
		return err
	}
	if t.bundle.TakesPart != nil {
		std.Keep(t.bundle.TakesPart)
	}
	t.Std = std
	t.setFeatures(std.Columns, std.Mean, std.Std, std.Filled, std.LeftOut, std.Warnings)
	if fit := t.run.Bound.Takes.RowScales; len(fit) > 0 && fit[0] != "" && t.Selection.Options[request.OptionRowScale] == nil {
		t.warn("method %s takes rows of one total, and these are as in the input; of counts, {rows-scale} %s makes them", t.run.Bound.Name, fit[0])
	}
	switch {
	case t.run.Bound.Takes.Sample:
		copySurveyToEvidence(t)
		thin := t.bundle.ThinColumns
		t.Survey.Squares, t.Survey.Column = thin.Squares, thin.Column
	case t.run.Bound.Takes.Rereads && t.bundle.Source == nil: // from a statistics file
	case t.run.Bound.From.UsesGramOnly() || t.run.Bound.Takes.Rereads:
		t.Source, t.Memory = t.bundle.Source, t.bundle.Plan.Solver
	}
	return nil
}

func (t *Trial) setGraphEvidence() error {
	// Centring suffices: the graph itself scales the columns for its distances, and XᵀLX does not depend on shifts of
	// columns (L is the Laplacian of the graph).
	m, err := t.bundle.FinishGram(gram.FinishOptions{Scale: gram.ScaleCenter, Fill: t.Fill, Plain: true})
	if err != nil {
		return err
	}
	before := slices.Clone(m.Columns)
	g, err := t.bundle.Graph.Graph(m)
	if err != nil {
		return err
	}
	for _, j := range before {
		if _, stays := slices.BinarySearch(m.Columns, j); !stays {
			t.Selection.LeftOut = append(t.Selection.LeftOut, t.bundle.Columns[j].LeftOut("no feature in the profile that the anchors were made with"))
		}
	}
	if t.Graph, t.ExplainGram = g, g.G; g.G.Absent() {
		if t.Std, err = t.rowStandardizer(m, g.Scale); err != nil {
			return err
		}
		if t.bundle.Sketch != nil {
			err = g.Estimate(t.Threads, t.bundle.Sketch, t.bundle.Weights, t.Std)
			if t.Std = nil; err != nil {
				return err
			}
		}
	}
	if g.G.Absent() {
		t.ExplainGram, t.Source, t.Memory = nil, t.bundle.Source, t.bundle.Plan.Solver
		if g.Columns != nil { // the plan had only an estimate of the bytes of g.Columns
			t.Memory += t.bundle.Plan.ThinColumnBytes - g.Columns.Bytes()
		}
	}
	t.setFeatures(m.Columns, m.Mean, m.Std, m.Filled, m.LeftOut, m.Warnings)
	t.Selection.Options["anchors"], t.Selection.Options["neighbors"] = g.M, t.run.Bound.Anchors.Neighbors
	return nil
}

// rowStandardizer makes the standardizer that turns rows of the input into rows of X̃, whose columns are the features
// of m, centred and multiplied by scale.
func (t *Trial) rowStandardizer(m *gram.Gram, scale []float64) (*gram.Standardizer, error) {
	std, err := gram.NewStandardizer(t.bundle.Profile, gram.Plain(t.bundle.Columns), gram.ScaleCenter, t.Fill)
	if err != nil {
		return nil, err
	}
	wanted := make([]bool, len(t.bundle.Columns))
	for _, j := range m.Columns {
		wanted[j] = true
	}
	std.Keep(wanted)
	std.Factor = scale
	return std, nil
}

func (t *Trial) setRowEvidence() error {
	e := t.bundle
	std, err := gram.NewStandardizer(e.Profile, e.Columns, t.run.ParsedScale, t.Fill)
	if err != nil {
		return err
	}
	t.Std = std
	if t.run.Bound.Takes.Cells {
		t.useEveryColumn(std)
		t.explainFeatures = std.Columns
	} else {
		t.setFeatures(std.Columns, std.Mean, std.Std, std.Filled, std.LeftOut, std.Warnings)
	}
	t.warnOfSampling()
	if t.Gram, err = t.scaledGram(std); err != nil {
		return err
	}
	if t.Gram != nil && len(e.Columns) <= planning.MaxExplainedFeatures {
		t.ExplainGram = &t.Gram.Matrix
	} else {
		t.run.Notef("%d features are too many to compute the explained share: that takes a Gram matrix, up to %d", len(t.Columns), planning.MaxExplainedFeatures)
	}
	t.Source, t.Memory, t.Scratch = planning.RowSource(t.run, e.Source), e.Plan.Solver-e.Plan.PackingBytes, stream.InMemory{}
	t.Release = e.Source.Close
	return nil
}

// useEveryColumn makes every column a feature, even the constant columns, which the standardizer std leaves out.
func (t *Trial) useEveryColumn(std *gram.Standardizer) {
	p := t.bundle.Profile
	d := len(p.Columns)
	index, mean, spread, filled := make([]int, d), make([]float64, d), make([]float64, d), make([]int64, d)
	for j := range p.Columns {
		c := &p.Columns[j]
		if k, varies := slices.BinarySearch(std.Columns, j); varies {
			mean[j], spread[j] = std.Mean[k], std.Std[k]
		} else if c.Observed > 0 {
			mean[j] = c.Min
		}
		index[j], filled[j] = j, p.Rows-c.Observed
	}
	t.setFeatures(index, mean, spread, filled, nil, std.Warnings)
}

func (t *Trial) warnOfSampling() {
	n := t.run.DrawnRows()
	if n != t.run.Bound.Sample || n == 0 || n >= t.Selection.Rows {
		return
	}
	used := "is used"
	if t.Selection.RowsUsed < n { // the sample was drawn before rows were dropped
		used = "is read, and the " + wording.WithCommas(t.Selection.RowsUsed) + " of them that {missing} drop-row leaves are used"
	}
	more := "{sample} takes more, 0 all"
	if t.run.Stats != "" {
		more = "a scan with more {sample-rows} keeps more"
	}
	t.warn("a seeded sample of %s of %s rows "+used+"; "+more, wording.WithCommas(n), wording.WithCommas(t.Selection.Rows))
}

// scaledGram returns the Gram matrix of the columns that std keeps, centred and scaled as std does. It returns nil if a
// Gram matrix was not gathered.
func (t *Trial) scaledGram(std *gram.Standardizer) (*gram.Gram, error) {
	e := t.bundle
	if e.Moments == nil {
		return nil, nil
	}
	m, err := e.Moments.Finish(e.Columns, gram.FinishOptions{Scale: gram.ScaleCenter, Fill: t.Fill, Plain: true})
	if err != nil {
		return nil, err
	}
	keep := make([]bool, len(e.Columns))
	for _, j := range std.Columns {
		keep[j] = true
	}
	m.Keep(keep)
	d := len(std.Columns)
	if m.D != d { // the squares of a column overflow because the column is not scaled yet
		return nil, nil
	}
	for i, f := range std.Factor {
		for j, v := range m.Sym[i*d:][:d] {
			// Multiply by one factor after the other, because the product of the factors may overflow or underflow.
			m.Sym[i*d+j] = v * min(f, std.Factor[j]) * max(f, std.Factor[j])
		}
	}
	return m, nil
}

func (t *Trial) Close(s *stream.Selection) error {
	if t.scratch == nil {
		return nil
	}
	err := t.scratch.Close()
	s.Memory.Scratch = t.scratch.Most()
	return err
}

func (t *Trial) warn(format string, args ...any) {
	t.Selection.Warnings = append(t.Selection.Warnings, stream.Textf(format, args...).Spell(t.run.Hooks.Spelling))
}
