package ufs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// trial is a run whose data are ready for the method. It holds the method's evidence, i.e. the statistics or rows from
// which the method selects, and the data for the report on the features.
type trial struct {
	*gatherer
	*method.Evidence
	bundle    *bundle
	selection *stream.Selection

	// These slices have one value for each of Evidence.Columns.
	index     []int // the feature's index in bundle.columns
	mean, std []float64
	filled    []int64 // number of filled missing entries

	explainGram     *gram.Matrix // the Gram matrix that explains a ranking, or nil
	explainFeatures []int        // the features of explainGram; nil means all features
	scratch         *scratch.Space

	candidates *candidates
}

// newTrial makes the method's evidence from the statistics e, which must not be used afterwards. It records in s which
// features take part.
func (g *gatherer) newTrial(e *bundle, s *stream.Selection) (*trial, error) {
	t, err := g.newUnboundTrial(e, s)
	if err != nil {
		return nil, err
	}
	s.Features = len(t.Columns)
	if err := t.setCandidates(s.LeftOut, true); err != nil {
		return nil, errors.Join(err, t.close(s))
	}
	if t.reportsSizes && t.Budget > 0 && t.HasCosts() {
		return nil, errors.Join(stream.Usagef("path: the choice within {budget} is the better of two for one number of candidates, and the first of it are not the best fewer; leave {budget} out, as the path says what they cost together, or select with each {k}"), t.close(s))
	}
	if t.K = g.K; t.K == 0 && !g.Takes.Nested && !g.AutoK {
		if t.K = t.candidates.choosable; g.Budget == 0 {
			t.K = min(DefaultK, t.K)
		}
	}
	if err := t.candidates.checkCount(t.K, s.LeftOut); err != nil {
		return nil, errors.Join(err, t.close(s))
	}
	return t, nil
}

func (t *trial) setCandidates(leftOut []stream.LeftOut, strict bool) (err error) {
	if t.candidates, err = t.newCandidates(t.Columns, leftOut, strict); err == nil {
		t.Choice, t.Keep = t.candidates.Choice, t.candidates.keep
	}
	return err
}

// newUnboundTrial does the work of newTrial, except that it does not determine the number of features to choose and the
// constraints on the choice.
func (g *gatherer) newUnboundTrial(e *bundle, s *stream.Selection) (*trial, error) {
	t := &trial{gatherer: g, bundle: e, selection: s, Evidence: &method.Evidence{
		Variance: g.Variance, MinGain: g.MinGain, Scale: g.scale, Fill: g.missingFill(), Missing: g.missingPolicy() == stream.MissingKeep,
		Seed: g.Seed, Threads: g.Threads, Meter: g.Meter,
		Profile: e.profile, Rows: e.profile.Rows, Parallel: e.plan.parallelSettings,
		Release: func() error { return nil }, Pass: func(int, string) {}, Iteration: func(int, float64) {},
	}}
	var err error
	switch {
	case g.From == method.FromGraph:
		err = t.setGraphEvidence()
	case g.From == method.FromRows:
		err = t.setRowEvidence()
	case e.sketch != nil:
		err = t.useSketch()
	case e.moments != nil || e.factor != nil:
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

func (t *trial) setFeatures(index []int, mean, std []float64, filled []int64, leftOut []stream.LeftOut, warnings []string) {
	if raw := t.bundle.rawProfile; raw != nil { // scale rank: reports describe the values, not their normal scores
		mean, std, filled = make([]float64, len(index)), make([]float64, len(index)), make([]int64, len(index))
		for k, j := range index {
			mean[k], std[k] = raw.Spread(j, t.Fill)
			if t.Fill != gram.FillPairwise {
				filled[k] = raw.Rows - raw.Columns[j].Observed
			}
		}
	}
	t.index, t.mean, t.std, t.filled = index, mean, std, filled
	for _, j := range index {
		t.Columns = append(t.Columns, t.bundle.columns[j])
	}
	for _, l := range leftOut { // columns in bundle.leftOut were recorded earlier
		if !slices.ContainsFunc(t.bundle.leftOut, func(own stream.LeftOut) bool { return own.Name == l.Name }) {
			t.selection.LeftOut = append(t.selection.LeftOut, l)
		}
	}
	t.selection.Warnings = append(t.selection.Warnings, warnings...)
}

func (t *trial) setGramEvidence() error {
	m, err := t.bundle.finishGram(gram.FinishOptions{Scale: t.scale, Fill: t.Fill, Centred: t.Takes.Sample})
	if err != nil {
		return err
	}
	if t.bundle.takesPart != nil {
		m.Keep(t.bundle.takesPart)
	}
	if t.Fill == gram.FillPairwise {
		c, err := linalg.ClipNegative(kernel.NewTeam(t.Threads), kernel.RowMajor(m.Sym, m.D, m.D, m.D))
		if err != nil {
			return fmt.Errorf("eigenvalues of the pairwise covariances: %w", err)
		}
		if c.Count > 0 {
			t.warn("the pairwise covariances have %s, together %.2g %% of the trace, which no data have: they are taken to be 0", plural(c.Count, "negative eigenvalue"), 100*c.Share)
		}
	}
	t.Gram = m
	t.setFeatures(m.Columns, m.Mean, m.Std, m.Filled, m.LeftOut, m.Warnings)
	if t.Takes.Sample {
		t.explainGram = &t.Gram.Matrix
		setSurvey(t)
	}
	return nil
}

func setSurvey(t *trial) {
	s := t.bundle.survey
	t.Survey = &method.Survey{Norm: s.Norm, Floor: s.Floor, Power: s.Power, Warnings: s.Warnings}
	for _, j := range t.index {
		t.Survey.Shares = append(t.Survey.Shares, s.Shares[j])
	}
}

// setProfileEvidence makes the evidence for methods that use only a profile, and for methods that read the rows again
// instead of using the Gram matrix.
func (t *trial) setProfileEvidence() error {
	std, err := gram.NewStandardizer(t.bundle.profile, t.bundle.columns, t.scale, t.Fill)
	if err != nil {
		return err
	}
	if t.bundle.takesPart != nil {
		std.Keep(t.bundle.takesPart)
	}
	t.Std = std
	t.setFeatures(std.Columns, std.Mean, std.Std, std.Filled, std.LeftOut, std.Warnings)
	switch {
	case t.Takes.Sample:
		setSurvey(t)
		thin := t.bundle.thinColumns
		t.Survey.Squares, t.Survey.Column = thin.Squares, thin.Column
	case t.From == method.FromGram:
		t.Source, t.Memory = t.bundle.source, t.bundle.plan.Solver
	}
	return nil
}

func (t *trial) setGraphEvidence() error {
	// Centring suffices: the graph itself scales the columns for its distances, and XᵀLX does not depend on shifts of
	// columns (L is the Laplacian of the graph).
	m, err := t.bundle.finishGram(gram.FinishOptions{Scale: gram.ScaleCenter, Fill: t.Fill, Plain: true})
	if err != nil {
		return err
	}
	before := slices.Clone(m.Columns)
	g, err := t.bundle.graph.Graph(m)
	if err != nil {
		return err
	}
	for _, j := range before {
		if _, stays := slices.BinarySearch(m.Columns, j); !stays {
			t.selection.LeftOut = append(t.selection.LeftOut, t.bundle.columns[j].LeftOut("no feature in the profile that the anchors were made with"))
		}
	}
	if t.Graph, t.explainGram = g, g.G; g.G.Absent() {
		if t.Std, err = t.rowStandardizer(m, g.Scale); err != nil {
			return err
		}
		if t.bundle.sketch != nil {
			err = g.Estimate(t.Threads, t.bundle.sketch, t.bundle.weights, t.Std)
			if t.Std = nil; err != nil {
				return err
			}
		}
	}
	if g.G.Absent() {
		t.explainGram, t.Source, t.Memory = nil, t.bundle.source, t.bundle.plan.Solver
		if g.Columns != nil { // the plan had only an estimate of the bytes of g.Columns
			t.Memory += t.bundle.plan.thinColumnBytes - g.Columns.Bytes()
		}
	}
	t.setFeatures(m.Columns, m.Mean, m.Std, m.Filled, m.LeftOut, m.Warnings)
	t.selection.Options["anchors"], t.selection.Options["neighbors"] = g.M, t.Anchors.Neighbors
	return nil
}

// rowStandardizer makes the standardizer that turns rows of the input into rows of X̃, whose columns are the features
// of m, centred and multiplied by scale.
func (t *trial) rowStandardizer(m *gram.Gram, scale []float64) (*gram.Standardizer, error) {
	std, err := gram.NewStandardizer(t.bundle.profile, gram.Plain(t.bundle.columns), gram.ScaleCenter, t.Fill)
	if err != nil {
		return nil, err
	}
	wanted := make([]bool, len(t.bundle.columns))
	for _, j := range m.Columns {
		wanted[j] = true
	}
	std.Keep(wanted)
	std.Factor = scale
	return std, nil
}

func (t *trial) setRowEvidence() error {
	e := t.bundle
	std, err := gram.NewStandardizer(e.profile, e.columns, t.scale, t.Fill)
	if err != nil {
		return err
	}
	t.Std = std
	if t.Takes.Cells {
		t.useEveryColumn(std)
		t.explainFeatures = std.Columns
	} else {
		t.setFeatures(std.Columns, std.Mean, std.Std, std.Filled, std.LeftOut, std.Warnings)
	}
	t.warnSampled()
	if t.Gram, err = t.scaledGram(std); err != nil {
		return err
	}
	if t.Gram != nil && len(e.columns) <= maxExplainedFeatures {
		t.explainGram = &t.Gram.Matrix
	} else {
		t.note("%d features are too many to compute the explained share: that takes a Gram matrix, up to %d", len(t.Columns), maxExplainedFeatures)
	}
	t.Source, t.Memory, t.Scratch = t.rowSource(e.source), e.plan.Solver-e.plan.packingBytes, stream.InMemory{}
	t.Release = e.source.Close
	return nil
}

// useEveryColumn makes every column a feature, even constant columns, which are the columns that std leaves out.
func (t *trial) useEveryColumn(std *gram.Standardizer) {
	p := t.bundle.profile
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

func (t *trial) warnSampled() {
	n := t.drawnRows()
	if n != t.Sample || n == 0 || n >= t.selection.Rows {
		return
	}
	used := "is used"
	if t.selection.RowsUsed < n { // the sample was drawn before rows were dropped
		used = "is read, and the " + comma(t.selection.RowsUsed) + " of them that {missing} drop-row leaves are used"
	}
	more := "{sample} takes more, 0 all"
	if t.Stats != "" {
		more = "a scan with more {sample-rows} keeps more"
	}
	t.warn("a seeded sample of %s of %s rows "+used+"; "+more, comma(n), comma(t.selection.Rows))
}

// scaledGram returns the Gram matrix of the columns that std keeps, centred and scaled as std does. It returns nil if a
// Gram matrix was not gathered.
func (t *trial) scaledGram(std *gram.Standardizer) (*gram.Gram, error) {
	e := t.bundle
	if e.moments == nil {
		return nil, nil
	}
	m, err := e.moments.Finish(e.columns, gram.FinishOptions{Scale: gram.ScaleCenter, Fill: t.Fill, Plain: true})
	if err != nil {
		return nil, err
	}
	keep := make([]bool, len(e.columns))
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

func (t *trial) close(s *stream.Selection) error {
	if t.scratch == nil {
		return nil
	}
	err := t.scratch.Close()
	s.Memory.Scratch = t.scratch.Most()
	return err
}

func (t *trial) warn(format string, args ...any) {
	t.selection.Warnings = append(t.selection.Warnings, stream.Textf(format, args...).Spell(t.Spelling))
}

// solve calls iterate, which runs the method, shows the progress of the method's passes and iterations, and converts
// the error of iterate. settings is the number of settings for which the method runs.
func (t *trial) solve(ctx context.Context, settings int, iterate func(context.Context) error) error {
	before := t.passes
	p := Progress{What: "selecting", Pass: before, Passes: t.leastPasses, Most: t.mostPasses, Rows: -1}
	if t.Source != nil {
		p.Pass, p.Rows = before+1, t.Source.Rows()
	}
	most := t.bundle.plan.iterations * settings
	var mu sync.Mutex
	shown, done, reading := false, 0, true
	show := func() { // a method that reports no iterations is fast
		if shown = true; t.Progress != nil {
			t.Progress(p)
		}
	}
	t.Pass = func(pass int, title string) {
		mu.Lock()
		defer mu.Unlock()
		if p.Pass, reading = before+pass, true; done == 0 {
			p.What = title
		}
		show()
	}
	t.Iteration = func(int, float64) {
		mu.Lock()
		defer mu.Unlock()
		if done++; t.Source != nil && !reading { // iterations over rows in memory count as passes in the progress
			p.Rows = t.Rows * int64(most)
			t.Meter.Rows.Add(t.Rows)
		}
		reading = false
		p.What = fmt.Sprintf("iteration %d", done+1)
		if most > 0 {
			p.What = fmt.Sprintf("iteration %d of at most %d", min(done+1, most), most)
		}
		show()
	}
	if t.Takes.Iterates && t.Source == nil && most > 0 {
		p.What = fmt.Sprintf("iteration 1 of at most %d", most)
		show()
	}
	err := t.runOverRows(ctx, func(step int) {
		mu.Lock()
		defer mu.Unlock()
		done += step
	}, iterate)
	if p.Done, p.Failed = true, err != nil; shown {
		show()
	}
	if err = withPlace(err, t.bundle); err != nil && t.bundle.source != nil {
		err = t.bundle.plan.errForLimit(err)
	}
	return err
}

func (t *trial) columnReport(k int) stream.ColumnReport {
	missing := t.bundle.profile.Columns[t.index[k]].Missing
	return stream.ColumnReport{
		Name: t.Columns[k].Name, Column: t.Columns[k].Position, Mean: stream.Number(t.mean[k]), Std: stream.Number(t.std[k]),
		Nulls: missing.Nulls, NaNs: missing.NaNs, Infs: missing.Infs, Filled: t.filled[k],
		Explained: stream.Number(math.NaN()),
	}
}
