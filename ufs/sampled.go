package ufs

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
	"github.com/ufs-stream/ufs-stream/internal/hygiene"
	"github.com/ufs-stream/ufs-stream/internal/rowsample"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Methods that iterate over rows can select from the sample of rows in a statistics file. They then make the same
// passes over the same blocks, in the same order, as over the data itself. Only the file is read.

// sampleGatherer gathers statistics from the sample of rows in a statistics file.
type sampleGatherer struct {
	*gatherer
	file         *chunkio.StatsReader
	sampleSource *rowsample.Source
	fileBundle   *bundle // statistics in the file, of all rows
	opt          rowsample.Options
}

// keptRowSource is the source of the sampled rows that passes read. Closing it closes the statistics file.
type keptRowSource struct {
	*rowsample.Source
	file *chunkio.StatsReader
}

func (k keptRowSource) Close() error { return k.file.Close() }

// gatherFromSample gathers statistics from the sample of rows in the statistics file. The file stays open, because it
// is the source of the result.
func (g *gatherer) gatherFromSample(ctx context.Context) (e *bundle, err error) {
	file, err := g.openStats(ctx, g.Stats)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	g.Stats = file.Path() // from here on Stats is only a name in messages
	s := &sampleGatherer{gatherer: g, file: file}
	if s.fileBundle, err = readStats(file, method.FromProfile, gram.Options{}, 0); err == nil {
		err = s.fileBundle.readPositions(file)
	}
	if err != nil {
		return nil, err
	}
	if !file.Has(rowsSection) {
		return nil, g.errNoKeptRows(s.fileBundle.kind)
	}
	s.sampleSource, err = rowsample.OpenSource(len(s.fileBundle.columns), func() (io.Reader, error) { return file.SectionReader(rowsSection) })
	if err != nil {
		return nil, errBadSection(g.Stats, rowsSection, err)
	}
	if err := g.checkRecorded(s.fileBundle); err != nil {
		return nil, err
	}
	if err := s.settleSampleOptions(); err != nil {
		return nil, err
	}
	if err := g.restrictColumns(s.fileBundle); err != nil {
		return nil, err
	}
	return s.gatherSample(ctx)
}

func (r *run) errNoKeptRows(kind string) error {
	others := stream.Text{}
	if kind != kindProfile {
		others = stream.Textf(", or choose {method} %s with {stats}", methods.Fallback)
	}
	return stream.Usagef("method %s iterates over rows, and %s keeps none; keep a sample: scan INPUT… {profile-only} {sample-rows} %d {method} %[1]s; or select from the data: select INPUT… {method} %[1]s%[4]v",
		r.Name, r.Stats, method.DefaultSample, others)
}

// adoptSampleOptions copies the options that the rows of the file were drawn with to the request. A request may set any
// missing policy, because no policy has acted on these rows.
func (r *run) adoptSampleOptions(e *bundle) (err error) {
	if recorded := e.options[optionSampleMissing]; r.original.Missing == "" {
		r.Missing = recorded
		if !slices.Contains(MissingPolicies(), recorded) {
			return chunkio.DamagedStats(r.Stats, "it records the unknown missing policy %q", recorded)
		}
	}
	if rows := e.options["rows"]; rows != "" {
		if r.SampleRows, err = strconv.ParseInt(rows, 10, 64); err != nil {
			return chunkio.DamagedStats(r.Stats, "%q is no number of rows", rows)
		}
	}
	return nil
}

func (s *sampleGatherer) settleSampleOptions() error {
	seed, keptRows, limit := s.sampleSource.Seed(), s.sampleSource.RowCount(), s.sampleSource.RequestedRows()
	if s.original.Seed != 0 && s.original.Seed != seed {
		return stream.Usagef("{seed} %d: the rows of %s were drawn with {seed} %d; scan again with the {seed} you want", s.original.Seed, s.Stats, seed)
	}
	s.Seed = seed
	all := keptRows >= s.fileBundle.profile.Rows // the file keeps all rows
	switch {
	case !s.IsGiven("sample"):
		s.Sample = limit
	case all || s.Sample > 0 && s.Sample <= limit:
	default:
		requested := comma(s.Sample)
		if s.Sample == 0 {
			requested = "0 (all " + comma(s.fileBundle.profile.Rows) + ")"
		}
		return stream.Usagef("{sample} %s: %s keeps %s rows; scan again with {sample-rows} %d, or select from the data: select INPUT… {method} %s {sample} %d",
			requested, s.Stats, comma(limit), min(cmp.Or(s.Sample, s.fileBundle.profile.Rows), s.fileBundle.profile.Rows), s.Name, s.Sample)
	}
	want := min(cmp.Or(s.Sample, limit), s.fileBundle.profile.Rows)
	switch complete := s.fileBundle.isComplete(); {
	case keptRows >= want:
	case complete:
		return stream.Errorf("%s: %w", s.Stats, anchor.ShortSample(keptRows, want, s.Seed))
	case s.IsGiven("sample"):
		return stream.Usagef("{sample} %d: %s is of some shards only, and keeps %s of the whole's rows; merge all shards, or leave {sample} out", s.Sample, s.Stats, comma(keptRows))
	default:
		s.Sample = keptRows
	}
	return nil
}

// gatherSample makes the same passes over the sample as gatherer.gather makes over data.
func (s *sampleGatherer) gatherSample(ctx context.Context) (*bundle, error) {
	whole := s.fileBundle
	missing := 0
	s.opt = rowsample.Options{
		Draw: s.drawnRows(), Rows: whole.profile.Seen, Missing: s.missingPolicy(), Sparse: whole.options["sparse"] != "", Path: s.Stats,
	}
	for j, c := range whole.columns {
		if whole.takesPart != nil && !whole.takesPart[j] {
			continue
		}
		s.opt.Columns, s.opt.Index = append(s.opt.Columns, c), append(s.opt.Index, j)
		if whole.profile.Columns[j].Missing.Total() > 0 {
			missing++
		}
	}
	rows := s.sampleSource.WithOptions(s.opt)
	plan, err := s.planSample(rows, missing)
	if err != nil {
		return nil, err
	}
	plan.enforce(s.missingPolicy() == stream.MissingKeep)
	var useless []stream.LeftOut
	if s.missingPolicy() != stream.MissingKeep && !s.opt.Sparse && !s.Takes.Cells {
		s.opt.Missing = stream.MissingError
		s.expectPasses(1, plan)
		e, err := s.accumulateSample(ctx, plan, nil)
		if !errors.Is(err, stream.ErrMissing) {
			return e, err
		}
		// Columns that are useless however their missing values are filled must neither cause an error nor drop rows.
		if useless, err = s.findUseless(ctx, plan); err != nil {
			return nil, err
		}
		s.opt.Missing = s.missingPolicy()
	}
	s.expectPasses(1, plan)
	return s.accumulateSample(ctx, plan, useless)
}

// planSample plans the memory of selecting from the rows. missing is the number of columns with missing values in all
// rows; in the sample there are at most as many.
func (s *sampleGatherer) planSample(rows *rowsample.Source, missing int) (Budget, error) {
	shape := method.Shape{
		Columns: s.opt.Columns, LeftOut: s.fileBundle.leftOut, Rows: rows.Rows(), Threads: s.Threads,
		HasNulls: missing > 0, FillMean: s.Missing == missingMean, Drops: s.missingPolicy() == stream.MissingDropRow,
	}
	c, err := s.newCandidates(shape.Columns, shape.LeftOut, false)
	if err != nil {
		return Budget{}, err
	}
	s.addChoiceToShape(&shape, c)
	if s.missingPolicy() != stream.MissingKeep {
		missing = 0
	}
	return s.planRows(keptRowSource{rows, s.file}, shape, missing)
}

func (s *sampleGatherer) findUseless(ctx context.Context, plan Budget) ([]stream.LeftOut, error) {
	s.opt.Missing = stream.MissingKeep
	profile := gram.NewProfile(len(s.opt.Columns))
	s.expectPasses(2, plan)
	if err := s.foldPass(ctx, s.sampleSource.WithOptions(s.opt), "profile", stream.FoldOptions{}, profile); err != nil {
		return nil, err
	}
	left := s.uselessWithMissing(profile, s.opt.Columns)
	var columns []stream.Column
	var index []int
	for k, c := range s.opt.Columns {
		if !slices.ContainsFunc(left, func(l stream.LeftOut) bool { return l.Name == c.Name }) {
			columns, index = append(columns, c), append(index, s.opt.Index[k])
		}
	}
	if len(columns) == 0 {
		return nil, stream.Dataf(s.Stats, "no column of the drawn rows can be a feature; the first, %q: %s", left[0].Name, left[0].Why)
	}
	s.opt.Columns, s.opt.Index = columns, index
	return left, nil
}

func (s *sampleGatherer) accumulateSample(ctx context.Context, plan Budget, useless []stream.LeftOut) (*bundle, error) {
	rows, whole := s.sampleSource.WithOptions(s.opt), s.fileBundle
	e := &bundle{
		columns: s.opt.Columns, positionCount: whole.positionCount, useless: useless, leftOut: slices.Concat(whole.leftOut, useless), table: whole.table, inputs: whole.inputs,
		covered: whole.covered, options: whole.options, source: keptRowSource{rows, s.file}, plan: plan,
		warnings: slices.Concat(whole.warnings, whole.gapWarnings(s.Stats)),
	}
	d := len(e.columns)
	e.facts = hygiene.New(d, s.Threads, false)
	var err error
	if plan.gathersMoments {
		e.moments = gram.NewMoments(d, gram.Options{Threads: s.Threads, Limit: plan.statisticsRoom(), Busy: &s.Meter.Busy})
		e.profile = &e.moments.Profile
		err = s.foldPass(ctx, rows, "statistics", stream.FoldOptions{}, e.moments, e.facts)
	} else {
		e.profile = gram.NewProfile(d)
		err = s.foldPass(ctx, rows, "profile", stream.FoldOptions{}, e.profile, e.facts)
	}
	if err != nil {
		return nil, plan.errForLimit(err)
	}
	e.facts.TakeLabel(whole.facts, s.opt.Index)
	e.passes, e.profile.Seen = s.passes, whole.profile.Seen
	return e, nil
}
