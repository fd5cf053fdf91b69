package gathering

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/hygiene"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowsample"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// Methods that iterate over rows can select from the sample of rows in a statistics file. They then make the same
// passes over the same blocks, in the same order, as over the data itself. Only the file is read.

// sampleGatherer gathers statistics from the sample of rows in a statistics file.
type sampleGatherer struct {
	*Gatherer
	file         *chunkio.StatsReader
	sampleSource *rowsample.Source
	fileBundle   *statistics.Bundle // statistics in the file, of all rows
	opt          rowsample.Options
}

// gatherFromSample gathers statistics from the sample of rows in the statistics file. The file stays open, because it
// is the source of the result.
func gatherFromSample(ctx context.Context, g *Gatherer) (e *statistics.Bundle, err error) {
	file, err := statistics.OpenStats(ctx, &g.Run.Request, g.Run.Stats)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	g.Run.Stats = file.Path() // from here on Stats is only a name in messages
	s := &sampleGatherer{Gatherer: g, file: file}
	if s.fileBundle, err = statistics.ReadStats(file, method.FromProfile, gram.Options{}, 0); err == nil {
		err = s.fileBundle.ReadPositions(file)
	}
	if err != nil {
		return nil, err
	}
	if !file.Has(statistics.RowsSection) {
		return nil, errNoKeptRows(g.Run, s.fileBundle.Kind)
	}
	s.sampleSource, err = rowsample.OpenSource(len(s.fileBundle.Columns), func() (io.Reader, error) { return file.SectionReader(statistics.RowsSection) })
	if err != nil {
		return nil, statistics.ErrBadSection(g.Run.Stats, statistics.RowsSection, err)
	}
	if err := CheckRecordedOptions(g.Run, s.fileBundle); err != nil {
		return nil, err
	}
	if err := s.settleSampleOptions(); err != nil {
		return nil, err
	}
	if err := restrictColumns(g.Run, s.fileBundle); err != nil {
		return nil, err
	}
	return s.gatherSample(ctx)
}

func errNoKeptRows(r *settled.Run, kind string) error {
	others := stream.Text{}
	if kind != statistics.KindProfile {
		others = stream.Textf(", or choose {method} %s with {stats}", methods.Fallback)
	}
	return stream.Usagef("method %s iterates over rows, and %s keeps none; keep a sample: scan INPUT… {profile-only} {sample-rows} %d {method} %[1]s; or select from the data: select INPUT… {method} %[1]s%[4]v",
		r.Bound.Name, r.Stats, method.DefaultSample, others)
}

// adoptSampleOptions copies the options that the rows of the file were drawn with to the request. A request may set any
// missing policy, because no policy has acted on these rows.
func adoptSampleOptions(r *settled.Run, e *statistics.Bundle) (err error) {
	if recorded := e.Options[request.OptionSampleMissing]; r.Original.Columns.Missing == "" {
		r.Columns.Missing = recorded
		if !slices.Contains(request.MissingPolicies(), recorded) {
			return chunkio.DamagedStats(r.Stats, "it records the unknown missing policy %q", recorded)
		}
	}
	if rows := e.Options["rows"]; rows != "" {
		if r.SampleRows, err = strconv.ParseInt(rows, 10, 64); err != nil {
			return chunkio.DamagedStats(r.Stats, "%q is no number of rows", rows)
		}
	}
	return nil
}

func (s *sampleGatherer) settleSampleOptions() error {
	seed, keptRows, limit := s.sampleSource.Seed(), s.sampleSource.RowCount(), s.sampleSource.RequestedRows()
	if s.Run.Original.Choice.Seed != 0 && s.Run.Original.Choice.Seed != seed {
		return stream.Usagef("{seed} %d: the rows of %s were drawn with {seed} %d; scan again with the {seed} you want", s.Run.Original.Choice.Seed, s.Run.Stats, seed)
	}
	s.Run.Choice.Seed = seed
	all := keptRows >= s.fileBundle.Profile.Rows // the file keeps all rows
	switch {
	case !s.Run.Bound.IsGiven("sample"):
		s.Run.Bound.Sample = limit
	case all || s.Run.Bound.Sample > 0 && s.Run.Bound.Sample <= limit:
	default:
		requested := wording.WithCommas(s.Run.Bound.Sample)
		if s.Run.Bound.Sample == 0 {
			requested = "0 (all " + wording.WithCommas(s.fileBundle.Profile.Rows) + ")"
		}
		return stream.Usagef("{sample} %s: %s keeps %s rows; scan again with {sample-rows} %d, or select from the data: select INPUT… {method} %s {sample} %d",
			requested, s.Run.Stats, wording.WithCommas(limit), min(cmp.Or(s.Run.Bound.Sample, s.fileBundle.Profile.Rows), s.fileBundle.Profile.Rows), s.Run.Bound.Name, s.Run.Bound.Sample)
	}
	want := min(cmp.Or(s.Run.Bound.Sample, limit), s.fileBundle.Profile.Rows)
	switch complete := s.fileBundle.IsComplete(); {
	case keptRows >= want:
	case complete:
		return stream.Errorf("%s: %w", s.Run.Stats, anchor.ShortSample(keptRows, want, s.Run.Choice.Seed))
	case s.Run.Bound.IsGiven("sample"):
		return stream.Usagef("{sample} %d: %s is of some shards only, and keeps %s of the whole's rows; merge all shards, or leave {-sample} out", s.Run.Bound.Sample, s.Run.Stats, wording.WithCommas(keptRows))
	default:
		s.Run.Bound.Sample = keptRows
	}
	return nil
}

// gatherSample makes the same passes over the sample as gatherer.gather makes over data.
func (s *sampleGatherer) gatherSample(ctx context.Context) (*statistics.Bundle, error) {
	whole := s.fileBundle
	missing := 0
	s.opt = rowsample.Options{
		Draw: s.Run.DrawnRows(), Rows: whole.Profile.Seen, Missing: request.MissingPolicy(&s.Run.Request), Sparse: whole.Options["sparse"] != "", Path: s.Run.Stats, File: s.file,
	}
	for j, c := range whole.Columns {
		if whole.TakesPart != nil && !whole.TakesPart[j] {
			continue
		}
		s.opt.Columns, s.opt.Index = append(s.opt.Columns, c), append(s.opt.Index, j)
		if whole.Profile.Columns[j].Missing.Total() > 0 {
			missing++
		}
	}
	rows := s.sampleSource.WithOptions(s.opt)
	plan, err := s.planSample(rows, missing)
	if err != nil {
		return nil, err
	}
	plan.EnforcePeak(request.MissingPolicy(&s.Run.Request) == stream.MissingKeep)
	var useless []stream.LeftOut
	if request.MissingPolicy(&s.Run.Request) != stream.MissingKeep && !s.opt.Sparse && !s.Run.Bound.Takes.Cells {
		s.opt.Missing = stream.MissingError
		s.setExpectedPasses(1, plan)
		e, err := s.accumulateSample(ctx, plan, nil)
		if !errors.Is(err, stream.ErrMissing) {
			return e, err
		}
		// Columns that are useless however their missing values are filled must neither cause an error nor drop rows.
		if useless, err = s.findUselessColumns(ctx, plan); err != nil {
			return nil, err
		}
		s.opt.Missing = request.MissingPolicy(&s.Run.Request)
	}
	s.setExpectedPasses(1, plan)
	return s.accumulateSample(ctx, plan, useless)
}

// planSample plans the memory of selecting from the rows. missing is the number of columns with missing values in all
// rows; in the sample there are at most as many.
func (s *sampleGatherer) planSample(rows *rowsample.Source, missing int) (budget.Budget, error) {
	shape := method.Shape{
		Columns: s.opt.Columns, LeftOut: s.fileBundle.LeftOut, Rows: rows.Rows(), Threads: s.Run.Limits.Threads,
		HasNulls: missing > 0, FillMean: s.Run.Columns.Missing == request.MissingMean, Drops: request.MissingPolicy(&s.Run.Request) == stream.MissingDropRow,
	}
	c, err := choice.NewCandidates(s.Run, shape.Columns, shape.LeftOut, false)
	if err != nil {
		return budget.Budget{}, err
	}
	choice.AddChoiceToShape(s.Run.ExpectedK(len(shape.Columns), s.Run.Choice.AutoK), &shape, c)
	if request.MissingPolicy(&s.Run.Request) != stream.MissingKeep {
		missing = 0
	}
	return planning.PlanRows(s.Run, rows, shape, missing)
}

func (s *sampleGatherer) findUselessColumns(ctx context.Context, plan budget.Budget) ([]stream.LeftOut, error) {
	s.opt.Missing = stream.MissingKeep
	profile := gram.NewProfile(len(s.opt.Columns))
	s.setExpectedPasses(2, plan)
	if err := s.RunPass(ctx, s.sampleSource.WithOptions(s.opt), "profile", stream.FoldOptions{}, profile); err != nil {
		return nil, err
	}
	left := settled.UselessWithMissing(s.Run, profile, s.opt.Columns)
	var columns []stream.Column
	var index []int
	for k, c := range s.opt.Columns {
		if !slices.ContainsFunc(left, func(l stream.LeftOut) bool { return l.Name == c.Name }) {
			columns, index = append(columns, c), append(index, s.opt.Index[k])
		}
	}
	if len(columns) == 0 {
		return nil, stream.Dataf(s.Run.Stats, "no column of the drawn rows can be a feature; the first, %q: %s", left[0].Name, left[0].Why)
	}
	s.opt.Columns, s.opt.Index = columns, index
	return left, nil
}

func (s *sampleGatherer) accumulateSample(ctx context.Context, plan budget.Budget, useless []stream.LeftOut) (*statistics.Bundle, error) {
	rows, whole := s.sampleSource.WithOptions(s.opt), s.fileBundle
	e := &statistics.Bundle{
		Columns: s.opt.Columns, PositionCount: whole.PositionCount, Useless: useless, LeftOut: slices.Concat(whole.LeftOut, useless), Table: whole.Table, Inputs: whole.Inputs,
		Covered: whole.Covered, Options: whole.Options, Source: rows, Plan: plan,
		Warnings: slices.Concat(whole.Warnings, whole.GapWarnings(s.Run.Stats)),
	}
	d := len(e.Columns)
	e.Facts = hygiene.New(d, s.Run.Limits.Threads, false)
	var err error
	if plan.GathersMoments {
		e.Moments = gram.NewMoments(d, gram.Options{Threads: s.Run.Limits.Threads, Limit: plan.StatisticsRoom(), Busy: &s.Run.Hooks.Meter.Busy})
		e.Profile = &e.Moments.Profile
		err = s.RunPass(ctx, rows, "statistics", stream.FoldOptions{}, e.Moments, e.Facts)
	} else {
		e.Profile = gram.NewProfile(d)
		err = s.RunPass(ctx, rows, "profile", stream.FoldOptions{}, e.Profile, e.Facts)
	}
	if err != nil {
		return nil, plan.ErrForLimit(err)
	}
	e.Facts.TakeLabel(whole.Facts, s.opt.Index)
	e.Passes, e.Profile.Seen = s.Passes, whole.Profile.Seen
	return e, nil
}
