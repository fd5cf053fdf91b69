package ufs

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// gatherFromStats reads the statistics file in place of the input. It refuses options that need other statistics.
func (r *run) gatherFromStats(ctx context.Context) (*bundle, error) {
	file, err := r.openStats(ctx, r.Stats)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return r.gatherFromFile(file)
}

// gatherFromFile does the work of gatherFromStats for an open file. If there is not enough memory to find the number of
// features to choose, the run chooses the default number.
func (r *run) gatherFromFile(file *chunkio.StatsReader) (*bundle, error) {
	e, err := r.gatherFromFileOnce(file)
	var short *stream.MemoryError
	if !r.autoSize || !errors.As(err, &short) || !short.OfMemory() {
		return e, err
	}
	restore := r.useDefaultSize(memorySizeReason(short.Need))
	e, retryErr := r.gatherFromFileOnce(file)
	if retryErr != nil {
		restore()
		return nil, retryErr
	}
	r.note("%d features: %v", DefaultK, r.sizeReason)
	return e, nil
}

func (r *run) gatherFromFileOnce(file *chunkio.StatsReader) (*bundle, error) {
	r.Stats = file.Path() // from here on, r.Stats is only a name for messages
	seen, err := readStats(file, method.FromProfile, gram.Options{}, 0)
	if err == nil {
		err = seen.readPositions(file)
	}
	if err != nil {
		return nil, err
	}
	if err := r.settleShards(file); err != nil {
		return nil, err
	}
	isSketch := seen.kind == kindSketch || seen.kind == kindSketchedGraph
	if isSketch && r.autoSize {
		r.setDefaultSize(sketchSizeReason())
	}
	c, err := r.newCandidates(seen.columns, seen.leftOut, true)
	if err != nil {
		return nil, err
	}
	shape := method.Shape{Columns: seen.columns, LeftOut: seen.leftOut, Rows: seen.profile.Rows, Threads: r.Threads}
	r.addChoiceToShape(&shape, c)
	var cost method.Cost
	m := 0
	switch {
	case isSketch && r.From == method.FromGram && r.Takes.Sketch:
		return r.gatherSketch(file, seen, shape)
	case seen.kind == kindSketchedGraph && r.Takes.Sketch:
		return r.gatherSketchedGraph(file, seen, shape)
	}
	if r.Reads > 0 || r.Sketch != "" {
		return nil, stream.Usagef("{sketch} and {passes}: %s holds no sketch; leave them out, or scan with {sketch}", r.Stats)
	}
	switch {
	case r.From == method.FromGram:
		cost, err = r.gramCost(shape)
	case r.From == method.FromGraph && seen.kind == kindGraph:
		if m, err = strconv.Atoi(seen.options["anchors"]); err != nil {
			return nil, chunkio.DamagedStats(r.Stats, "%q is no number of anchors", seen.options["anchors"])
		}
		cost, err = r.graphCost(shape, m)
	}
	if err != nil {
		return nil, err
	}
	d := len(seen.columns)
	sizes := r.alwaysRunsSizeRules(d) && (r.From == method.FromGram || r.From == method.FromGraph && seen.kind == kindGraph)
	if more := max(cost.Bytes, r.sizeBytes(d, 0)); r.reportsSizes && programBytes+gram.Bytes(d, 0)+8*int64(m)*int64(m+d)+more <= r.Memory {
		cost.Bytes, sizes = more, true
	}
	opt := gram.Options{Threads: r.Threads, Limit: max(r.Memory-programBytes-cost.Bytes, 1)}
	from := r.From
	if from == method.FromProfile && seen.isRanked() { // only the moments in the file are of normal scores
		from = method.FromGram
	}
	e, err := readStats(file, from, opt, r.Stability)
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		b := Budget{Limit: r.Memory, Smallest: programBytes + cost.Bytes + m.Need}
		return nil, b.refusal()
	}
	if err != nil {
		return nil, err
	}
	if from != r.From {
		e.moments = nil
	}
	if r.Takes.Sample {
		if err := readKeptSample(r, e, file, opt.Limit, shape); err != nil {
			return nil, err
		}
	}
	e.columns, e.leftOut, e.positionCount = seen.columns, seen.leftOut, seen.positionCount
	e.plan.iterations, e.plan.hasSizeRules = cost.Iterations, sizes
	if err := r.checkRecorded(e); err != nil {
		return nil, err
	}
	if r.From == method.FromGraph {
		if err := r.settleGraph(e); err != nil {
			return nil, err
		}
	}
	e.warnings = append(slices.Clone(e.warnings), e.gapWarnings(r.Stats)...)
	return e, r.restrictColumns(e)
}

func readKeptSample(r *run, e *bundle, file *chunkio.StatsReader, limit int64, shape method.Shape) error {
	if e.options[optionDecay] != "" {
		return stream.Usagef("{decay} has weighted the rows of %s, so it keeps no sample of them, and method %s needs one", r.Stats, r.Name)
	}
	if !file.Has(sampleSection) {
		return stream.Usagef("%s keeps no sample of the rows, and method %s needs one; scan again without {method}, or with {method} %[2]s", r.Stats, r.Name)
	}
	if err := e.readSample(file, limit); err != nil {
		return err
	}
	if seed := e.sample.Seed(); r.original.Seed != 0 && r.original.Seed != seed {
		r.fallback = nil // the user's seed is for this method, not for the fallback
		return stream.Usagef("{seed} %d: the rows of %s were drawn with {seed} %d; scan again with the {seed} you want", r.original.Seed, r.Stats, seed)
	}
	if kept := e.sample.Len(); r.GraphRows > kept && int64(kept) < e.profile.Rows {
		return stream.Usagef("{graph-rows} %d: %s keeps a sample of %s rows; scan again with the {graph-rows} you want", r.GraphRows, r.Stats, comma(int64(kept)))
	}
	r.Seed = e.sample.Seed()
	return checkSurveyMemory(r, e, shape)
}

func checkSurveyMemory(r *run, e *bundle, shape method.Shape) error {
	shape.Sample = surveyedRows(r, e.sample)
	if n := e.sample.Len(); e.options["sparse"] != "" && n > 0 {
		shape.Sparse, shape.RowEntries = true, (e.sample.Entries()+int64(n)-1)/int64(n)
	}
	cost, err := r.gramCost(shape)
	if err != nil {
		return err
	}
	b := Budget{Limit: r.Memory, Smallest: programBytes + e.moments.MergedBytes(nil) + e.sample.MergedBytes(nil) + cost.Bytes}
	if b.Smallest > b.Limit {
		return b.refusal()
	}
	return nil
}

func (r *run) settleShards(file *chunkio.StatsReader) error {
	if r.Stability == 0 {
		return nil
	}
	shards, err := hashShardCount(file)
	switch {
	case err != nil:
		return err
	case shards == 0:
		return stream.Usagef("{stability}: %s was scanned without it, and halves of its rows cannot be told apart; scan again with {stability}, or leave it out", r.Stats)
	case r.Stability != AnyShards && r.Stability != shards:
		return stream.Usagef("{stability} %d: %s has %d hash shards; leave the number out, or scan again with the one you want", r.Stability, r.Stats, shards)
	}
	r.Stability = shards
	return nil
}

// gapWarnings warns if the file at path covers only some rows of its inputs, or only some shards of its plan. Missing
// shards need their own warning, because the file does not list the inputs of these shards.
func (e *bundle) gapWarnings(path string) []stream.Text {
	if p := e.part; p != nil && !p.Complete() {
		missing := p.Missing()
		return []stream.Text{stream.Textf("%s is of %s of the %s shards of a plan: %s %s missing", path, comma(int64(p.Count())), comma(int64(p.Of)), stream.ShardList(missing), isOrAre(missing))}
	}
	coveredRows, rows := e.coveredRows(), inputRows(e.inputs)
	if coveredRows >= rows {
		return nil
	}
	return []stream.Text{stream.Textf("%s covers %s of %s rows of its inputs: some shards are missing", path, comma(coveredRows), comma(rows))}
}

func (e *bundle) isComplete() bool {
	return (e.part == nil || e.part.Complete()) && e.coveredRows() >= inputRows(e.inputs)
}

func inputRows(inputs []stream.Input) (rows int64) {
	for _, in := range inputs {
		rows += in.Rows
	}
	return rows
}

func (r *run) checkRecorded(e *bundle) error {
	names := columnNames(e.columns)
	leftOut := make([]string, len(e.leftOut))
	for i, l := range e.leftOut {
		leftOut[i] = l.Name
	}
	if err := chunkio.RefuseShared("label", []string{r.Label}, e.leftOut); err != nil {
		return err
	}
	if r.Label != "" && !slices.Contains(leftOut, r.Label) {
		if slices.Contains(names, r.Label) {
			return stream.Usagef("{label} %s: %s has it as a feature; leave it out with {exclude}, or scan again with {label}", r.Label, r.Stats)
		}
		return stream.Usagef("{label} %s: %s records no such column%s", r.Label, r.Stats, suggest.DidYouMean(r.Label, slices.Concat(leftOut, names)))
	}
	wanted := r.statisticsShape()
	for _, option := range append([]string{"weight", "sparse", "where", "rows"}, columnOptionNames()...) {
		if wanted[option] != "" && wanted[option] != e.options[option] {
			recorded := stream.PlainText("without it")
			if e.options[option] != "" {
				recorded = stream.Textf("with %v %s", stream.Option(option), e.options[option])
			}
			return stream.Usagef("%v %s: %s was scanned %v; scan again with the %[1]v you want", stream.Option(option), wanted[option], r.Stats, recorded)
		}
	}
	if err := r.settleRank(e); err != nil {
		return err
	}
	if r.SkipBad {
		return stream.Usagef("{on-error} is for reading files; %s is read whole or not at all", r.Stats)
	}
	if r.From == method.FromRows {
		return r.adoptSampleOptions(e)
	}
	return r.settleMissing(e)
}

// settleMissing determines the policy for missing entries. If the statistics were gathered with a policy that keeps
// missing entries, a run can use any such policy. Otherwise it must use the recorded policy, unless no value is
// missing.
func (r *run) settleMissing(e *bundle) error {
	recorded, requested := e.options["missing"], r.original.Missing
	if requested == "" {
		r.Missing = recorded
		if !slices.Contains(MissingPolicies(), recorded) {
			return chunkio.DamagedStats(r.Stats, "it records the unknown missing policy %q", recorded)
		}
		return nil
	}
	if e.isRanked() && e.hasMissing() && (requested == missingZero) != (recorded == missingZero) {
		return stream.Usagef("{missing} %s: the ranks of %s were taken under {missing} %s; scan again with {missing} %[1]s", requested, r.Stats, recorded)
	}
	isKept := func(policy string) bool { return slices.Contains(keptMissing(), policy) }
	keeps := e.options["sparse"] == "" && isKept(requested) && isKept(recorded)
	if requested == recorded || !e.hasMissing() || keeps {
		return nil
	}
	return stream.Usagef("{missing} %s: %s was scanned under {missing} %s, which acted on the rows; scan again with {missing} %[1]s", requested, r.Stats, recorded)
}

// settleGraph copies the settings of the graph from a statistics file to the run, and refuses a request for different settings.
func (r *run) settleGraph(e *bundle) error {
	wanted := make(map[string]string)
	r.addGraphShape(wanted)
	wanted["missing"] = r.Missing
	isSet := map[string]bool{"scale": r.original.Scale != "", "missing": r.original.Missing != "", "seed": r.original.Seed != 0}
	for _, option := range []string{"neighbors", "anchors", "anchor-method", "anchors-file"} {
		isSet[option] = r.IsGiven(option)
	}
	for _, option := range []string{"scale", "neighbors", "anchors", "anchor-method", "anchors-file", "seed", "missing"} {
		recorded, known := e.options[option]
		switch {
		case !isSet[option] || recorded == wanted[option]:
		case !known:
			return stream.Usagef("%v %s: the graph of %s was made without; scan again with the %[1]v you want", stream.Option(option), wanted[option], r.Stats)
		case option == "missing" && !e.hasMissing():
		default:
			return stream.Usagef("%v %s: the graph of %s was made with %s; scan again with the %[1]v you want", stream.Option(option), wanted[option], r.Stats, recorded)
		}
	}
	if len(r.Columns)+len(r.Exclude) > 0 {
		return stream.Usagef("{columns} and {exclude}: the graph of %s knows distances between whole rows only; scan again with them", r.Stats)
	}
	var err error
	if r.Anchors.Neighbors, err = strconv.Atoi(e.options["neighbors"]); err != nil {
		return chunkio.DamagedStats(r.Stats, "%q is no number of neighbors", e.options["neighbors"])
	}
	if seed, hasSeed := e.options["seed"]; hasSeed {
		if r.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return chunkio.DamagedStats(r.Stats, "%q is no seed", seed)
		}
	}
	r.Scale = e.options["scale"]
	if r.scale, err = gram.ParseScale(r.Scale); err != nil {
		return chunkio.DamagedStats(r.Stats, "%q is no scale of a graph", r.Scale)
	}
	return nil
}

func (e *bundle) hasMissing() bool {
	return len(e.useless) > 0 || slices.ContainsFunc(e.profile.Columns, func(c gram.ColumnProfile) bool { return c.Missing.Total() > 0 })
}

// restrictColumns marks the columns that remain after the options Columns and Exclude. It refuses these options if the
// scan dropped rows, because a row may have been dropped for a missing value in a column that is now excluded.
func (r *run) restrictColumns(e *bundle) error {
	if len(r.Columns)+len(r.Exclude) == 0 {
		return nil
	}
	if e.options["missing"] == missingDropRow && e.profile.Seen != e.profile.Rows {
		return stream.Usagef("{columns} and {exclude}: %s has dropped rows for values missing in any of its columns; scan again with them", r.Stats)
	}
	why, left, err := chunkio.Restrict(e.columns, e.leftOut, e.useless, r.Columns, r.Exclude)
	if err != nil {
		return err
	}
	var features []stream.Column
	e.takesPart = make([]bool, len(e.columns))
	for j, c := range e.columns {
		if why[j] != "" {
			left = append(left, c.LeftOut(why[j]))
		} else {
			e.takesPart[j], features = true, append(features, c)
		}
	}
	if len(features) == 0 {
		return chunkio.NoFeatures(r.Stats, left)
	}
	e.leftOut = left
	e.warnings = slices.Concat(chunkio.WarnNames(features, left), slices.DeleteFunc(slices.Clone(e.warnings), chunkio.OfNames))
	return nil
}
