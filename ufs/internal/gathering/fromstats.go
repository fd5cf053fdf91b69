package gathering

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// gatherFromStats reads the statistics file in place of the input. It refuses options that need other statistics.
func gatherFromStats(ctx context.Context, g *Gatherer) (*statistics.Bundle, error) {
	file, err := statistics.OpenStats(ctx, &g.Run.Request, g.Run.Stats)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return GatherFromFile(g, file)
}

// GatherFromFile reads the statistics of the run from an open statistics file, and refuses options that need other
// statistics. If memory does not suffice to find the number of features to choose, the run chooses the default.
func GatherFromFile(g *Gatherer, file *chunkio.StatsReader) (*statistics.Bundle, error) {
	e, err := gatherFromFileOnce(g, file, false)
	var short *stream.MemoryError
	if !g.Run.AutoSize || !errors.As(err, &short) || !short.OfMemory() {
		return e, err
	}
	if e, err = gatherFromFileOnce(g, file, true); err != nil {
		return nil, err
	}
	g.allAttempts().UseDefaultSize(settled.MemorySizeReason(short.Need))
	return e, nil
}

func gatherFromFileOnce(g *Gatherer, file *chunkio.StatsReader, usesDefaultSize bool) (*statistics.Bundle, error) {
	r := g.Run
	w := planning.NewWorkload(r, g.Later, nil)
	w.UsesDefaultSize = usesDefaultSize
	r.Stats = file.Path() // from here on, r.Stats is only a name for messages
	seen, err := readProfileOfFile(r, file)
	if err != nil {
		return nil, err
	}
	isSketch := seen.Kind == statistics.KindSketch || seen.Kind == statistics.KindSketchedGraph
	if isSketch {
		r.UseSketchSize()
	}
	c, err := choice.NewCandidates(r, seen.Columns, seen.LeftOut, true)
	if err != nil {
		return nil, err
	}
	shape := method.Shape{Columns: seen.Columns, LeftOut: seen.LeftOut, Rows: seen.Profile.Rows, Threads: r.Limits.Threads}
	choice.AddChoiceToShape(r.ExpectedK(len(shape.Columns), w.FindsSize()), &shape, c)
	var cost method.Cost
	m := 0
	switch {
	case isSketch && r.Bound.From == method.FromGram && r.Bound.Takes.Sketch:
		return gatherSketch(r, file, seen, shape)
	case seen.Kind == statistics.KindSketchedGraph && r.Bound.Takes.Sketch:
		return gatherSketchedGraph(w, file, seen, shape)
	}
	if r.Choice.Reads > 0 || r.Choice.Sketch != "" {
		return nil, stream.Usagef("{-sketch} and {-passes}: %s holds no sketch; leave them out, or scan with {sketch}", r.Stats)
	}
	switch {
	case r.Bound.From == method.FromGram:
		cost, err = planning.GramCost(w, shape)
	case r.Bound.From == method.FromGraph && seen.Kind == statistics.KindGraph:
		if m, err = strconv.Atoi(seen.Options["anchors"]); err != nil {
			return nil, chunkio.DamagedStats(r.Stats, "%q is no number of anchors", seen.Options["anchors"])
		}
		cost, err = planning.GraphCost(w, shape, m)
	}
	if err != nil {
		return nil, err
	}
	d := len(seen.Columns)
	sizes := w.AlwaysRunsSizeRules(d) && (r.Bound.From == method.FromGram || r.Bound.From == method.FromGraph && seen.Kind == statistics.KindGraph)
	if more := max(cost.Bytes, planning.SizeBytes(r, d, 0, shape.Explain)); r.ReportsSizes && budget.ProgramBytes+gram.Bytes(d, 0)+8*int64(m)*int64(m+d)+more <= r.Limits.Memory {
		cost.Bytes, sizes = more, true
	}
	opt := gram.Options{Threads: r.Limits.Threads, Limit: max(r.Limits.Memory-budget.ProgramBytes-cost.Bytes, 1)}
	from := r.Bound.From
	if from == method.FromProfile && seen.IsRanked() { // only the moments in the file are of normal scores
		from = method.FromGram
	}
	e, err := statistics.ReadStats(file, from, opt, r.Choice.Stability)
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		b := budget.Budget{Limit: r.Limits.Memory, Smallest: budget.ProgramBytes + cost.Bytes + m.Need}
		return nil, b.ErrOverLimit()
	}
	if err != nil {
		return nil, err
	}
	if from != r.Bound.From {
		e.Moments = nil
	}
	if r.Bound.Takes.Sample {
		if err := readSurveySample(g, w, e, file, opt.Limit, shape); err != nil {
			return nil, err
		}
	}
	e.Columns, e.LeftOut, e.PositionCount = seen.Columns, seen.LeftOut, seen.PositionCount
	e.Plan.Iterations, e.Plan.HasSizeRules = cost.Iterations, sizes
	if err := CheckRecordedOptions(r, e); err != nil {
		return nil, err
	}
	if r.Bound.From == method.FromGraph {
		if err := settleGraph(r, e); err != nil {
			return nil, err
		}
	}
	e.Warnings = append(slices.Clone(e.Warnings), e.GapWarnings(r.Stats)...)
	return e, restrictColumns(r, e)
}

func readProfileOfFile(r *settled.Run, file *chunkio.StatsReader) (*statistics.Bundle, error) {
	seen, err := statistics.ReadStats(file, method.FromProfile, gram.Options{}, 0)
	if err == nil {
		err = seen.ReadPositions(file)
	}
	if err == nil {
		err = settleHashShards(r, file)
	}
	if err == nil && seen.Subtracted > 0 && r.ParsedScale == gram.ScaleMinMax {
		err = stream.Usagef("{scale} minmax: rows were subtracted from %s, and the least and the greatest values may have been among them; scan the whole table, or choose another {scale}", r.Stats)
	}
	return seen, err
}

func readSurveySample(g *Gatherer, w planning.Workload, e *statistics.Bundle, file *chunkio.StatsReader, limit int64, shape method.Shape) error {
	r := g.Run
	if e.Options[request.OptionDecay] != "" {
		return stream.Usagef("{decay} has weighted the rows of %s, so it keeps no sample of them, and method %s needs one", r.Stats, r.Bound.Name)
	}
	if !file.Has(statistics.SampleSection) {
		return stream.Usagef("%s keeps no sample of the rows, and method %s needs one; scan again without {method}, or with {method} %[2]s", r.Stats, r.Bound.Name)
	}
	if err := statistics.ReadState(e, file, statistics.SampleSection, statistics.StateOptions{Limit: limit}); err != nil {
		return err
	}
	if seed := e.Sample.Options().Seed; r.Original.Choice.Seed != 0 && r.Original.Choice.Seed != seed {
		g.Later = nil // the user's seed is for this method, not for the fallback
		return stream.Usagef("{seed} %d: the rows of %s were drawn with {seed} %d; scan again with the {seed} you want", r.Original.Choice.Seed, r.Stats, seed)
	}
	if kept := e.Sample.Len(); r.Bound.GraphRows > kept && int64(kept) < e.Profile.Rows {
		return stream.Usagef("{graph-rows} %d: %s keeps a sample of %s rows; scan again with the {graph-rows} you want", r.Bound.GraphRows, r.Stats, wording.WithCommas(int64(kept)))
	}
	r.Choice.Seed = e.Sample.Options().Seed
	return checkSurveyMemory(w, e, shape)
}

func checkSurveyMemory(w planning.Workload, e *statistics.Bundle, shape method.Shape) error {
	shape.Sample = settled.SurveyedRows(w.Run, e.Sample)
	if n := e.Sample.Len(); e.Options["sparse"] != "" && n > 0 {
		shape.Sparse, shape.RowEntries = true, (e.Sample.Entries()+int64(n)-1)/int64(n)
	}
	cost, err := planning.GramCost(w, shape)
	if err != nil {
		return err
	}
	b := budget.Budget{Limit: w.Run.Limits.Memory, Smallest: budget.ProgramBytes + e.Moments.MergedBytes(nil) + e.Sample.MergedBytes(nil) + cost.Bytes}
	if b.Smallest > b.Limit {
		return b.ErrOverLimit()
	}
	return nil
}

func settleHashShards(r *settled.Run, file *chunkio.StatsReader) error {
	if r.Choice.Stability == 0 {
		return nil
	}
	shards, err := statistics.HashShardCount(file)
	switch {
	case err != nil:
		return err
	case shards == 0:
		return stream.Usagef("{-stability}: %s was scanned without it, and halves of its rows cannot be told apart; scan again with {stability}, or leave it out", r.Stats)
	case r.Choice.Stability != request.AnyShards && r.Choice.Stability != shards:
		return stream.Usagef("{stability} %d: %s has %d hash shards; leave the number out, or scan again with the one you want", r.Choice.Stability, r.Stats, shards)
	}
	r.Choice.Stability = shards
	return nil
}

func CheckRecordedOptions(r *settled.Run, e *statistics.Bundle) error {
	names := wording.ColumnNames(e.Columns)
	leftOut := convert.Each(e.LeftOut, func(l stream.LeftOut) string { return l.Name })
	if err := chunkio.RefuseShared("label", []string{r.Columns.Label}, e.LeftOut); err != nil {
		return err
	}
	if r.Columns.Label != "" && !slices.Contains(leftOut, r.Columns.Label) {
		if slices.Contains(names, r.Columns.Label) {
			return stream.Usagef("{label} %s: %s has it as a feature; leave it out with {exclude}, or scan again with {label}", r.Columns.Label, r.Stats)
		}
		return stream.Usagef("{label} %s: %s records no such column%s", r.Columns.Label, r.Stats, suggest.DidYouMean(r.Columns.Label, slices.Concat(leftOut, names)))
	}
	wanted := request.StatisticsShape(&r.Request)
	for _, option := range request.OptionNames(request.AgreesWithStatistics) {
		if wanted[option] != "" && wanted[option] != e.Options[option] {
			recorded := stream.PlainText("without it")
			if e.Options[option] != "" {
				recorded = stream.Textf("with %v %s", stream.Option(option), e.Options[option])
			}
			return stream.Usagef("%v %s: %s was scanned %v; scan again with the %[1]v you want", stream.Option(option), wanted[option], r.Stats, recorded)
		}
	}
	if scale := e.Options[request.OptionRowScale]; scale != "" && r.Original.Columns.RowScale == request.RowScaleNone {
		return stream.Usagef("{rows-scale} none: %s was scanned with {rows-scale} %s; scan again with the {rows-scale} you want", r.Stats, scale)
	}
	if err := settled.CheckRowScaleOfMethod(r, e.Options[request.OptionRowScale]); err != nil {
		return err
	}
	if err := settled.SettleRank(r, e); err != nil {
		return err
	}
	if r.SkipBad {
		return stream.Usagef("{on-error} is for reading files; %s is read whole or not at all", r.Stats)
	}
	if r.Bound.From == method.FromRows {
		return adoptSampleOptions(r, e)
	}
	return settleMissing(r, e)
}

// settleMissing determines the policy for missing entries. If the statistics were gathered with a policy that keeps
// missing entries, a run can use any such policy. Otherwise it must use the recorded policy, if values are missing.
func settleMissing(r *settled.Run, e *statistics.Bundle) error {
	recorded, requested := e.Options["missing"], r.Original.Columns.Missing
	if requested == "" {
		r.Columns.Missing = recorded
		if !slices.Contains(request.MissingPolicies(), recorded) {
			return chunkio.DamagedStats(r.Stats, "it records the unknown missing policy %q", recorded)
		}
		return nil
	}
	if e.IsRanked() && e.HasMissing() && (requested == request.MissingZero) != (recorded == request.MissingZero) {
		return stream.Usagef("{missing} %s: the ranks of %s were taken under {missing} %s; scan again with {missing} %[1]s", requested, r.Stats, recorded)
	}
	isKept := func(policy string) bool { return slices.Contains(request.KeptMissing(), policy) }
	keeps := e.Options["sparse"] == "" && isKept(requested) && isKept(recorded)
	if requested == recorded || !e.HasMissing() || keeps {
		return nil
	}
	return stream.Usagef("{missing} %s: %s was scanned under {missing} %s, which acted on the rows; scan again with {missing} %[1]s", requested, r.Stats, recorded)
}

// settleGraph copies the settings of the graph from a statistics file to the run, and refuses a request for different settings.
func settleGraph(r *settled.Run, e *statistics.Bundle) error {
	wanted := make(map[string]string)
	r.AddGraphShape(wanted)
	wanted["missing"] = r.Columns.Missing
	isSet := map[string]bool{"scale": r.Original.Choice.Scale != "", "missing": r.Original.Columns.Missing != "", "seed": r.Original.Choice.Seed != 0}
	for _, option := range []string{"neighbors", "anchors", "anchor-method", "anchors-file"} {
		isSet[option] = r.Bound.IsGiven(option)
	}
	for _, option := range []string{"scale", "neighbors", "anchors", "anchor-method", "anchors-file", "seed", "missing"} {
		recorded, known := e.Options[option]
		switch {
		case !isSet[option] || recorded == wanted[option]:
		case !known:
			return stream.Usagef("%v %s: the graph of %s was made without; scan again with the %[1]v you want", stream.Option(option), wanted[option], r.Stats)
		case option == "missing" && !e.HasMissing():
		default:
			return stream.Usagef("%v %s: the graph of %s was made with %s; scan again with the %[1]v you want", stream.Option(option), wanted[option], r.Stats, recorded)
		}
	}
	if len(r.Columns.Names)+len(r.Columns.Exclude) > 0 {
		return stream.Usagef("{columns} and {exclude}: the graph of %s knows distances between whole rows only; scan again with them", r.Stats)
	}
	var err error
	if r.Bound.Anchors.Neighbors, err = strconv.Atoi(e.Options["neighbors"]); err != nil {
		return chunkio.DamagedStats(r.Stats, "%q is no number of neighbors", e.Options["neighbors"])
	}
	if seed, hasSeed := e.Options["seed"]; hasSeed {
		if r.Choice.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return chunkio.DamagedStats(r.Stats, "%q is no seed", seed)
		}
	}
	r.Choice.Scale = e.Options["scale"]
	if r.ParsedScale, err = gram.ParseScale(r.Choice.Scale); err != nil {
		return chunkio.DamagedStats(r.Stats, "%q is no scale of a graph", r.Choice.Scale)
	}
	return nil
}

// restrictColumns marks the columns that remain after the options Columns and Exclude. It refuses these options if the
// scan dropped rows, because a row may have been dropped for a missing value in a column that is now excluded.
func restrictColumns(r *settled.Run, e *statistics.Bundle) error {
	if len(r.Columns.Names)+len(r.Columns.Exclude) == 0 {
		return nil
	}
	if scale := e.Options[request.OptionRowScale]; scale != "" {
		return stream.Usagef("{columns} and {exclude}: the rows of %s were divided by their norms or sums over all its columns ({rows-scale} %s); scan again with them", r.Stats, scale)
	}
	if e.Options["missing"] == request.MissingDropRow && e.Profile.Seen != e.Profile.Rows {
		return stream.Usagef("{columns} and {exclude}: %s has dropped rows for values missing in any of its columns; scan again with them", r.Stats)
	}
	why, left, err := chunkio.Restrict(e.Columns, e.LeftOut, e.Useless, r.Columns.Names, r.Columns.Exclude)
	if err != nil {
		return err
	}
	var features []stream.Column
	e.TakesPart = make([]bool, len(e.Columns))
	for j, c := range e.Columns {
		if why[j] != "" {
			left = append(left, c.LeftOut(why[j]))
		} else {
			e.TakesPart[j], features = true, append(features, c)
		}
	}
	if len(features) == 0 {
		return chunkio.NoFeatures(r.Stats, left)
	}
	e.LeftOut = left
	e.Warnings = slices.Concat(chunkio.WarnNames(features, left), slices.DeleteFunc(slices.Clone(e.Warnings), chunkio.OfNames))
	return nil
}
