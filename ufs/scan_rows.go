package ufs

import (
	"maps"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/rowsample"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A profile may keep a sample of rows, so that methods that iterate over rows can select from it. These are the rows
// that Select would draw from the data. The sample of rows for anchors is another one, because a missing policy has
// acted on it.

// The names of the options that a statistics file records about its sample of rows.
const (
	optionSampleRows = "sample-rows"
	// optionSampleMissing is the missing policy requested for the scan. It acts when methods select from the sample; the
	// profile in the file is of all rows.
	optionSampleMissing = "sample-missing"
)

// settleKeptRows sets the number of rows that a scan keeps. It refuses options that do not allow a sample of rows, and
// a method that iterates over rows if no sample is requested.
func (r *run) settleKeptRows(q ScanRequest) error {
	isOverRows := r.From == method.FromRows
	switch {
	case q.KeepRows < 0 || q.KeepRows > rowsample.MostRows:
		return stream.Usagef("{sample-rows} %d: want a number of rows up to %d", q.KeepRows, rowsample.MostRows)
	case q.KeepRows == 0 && !isOverRows:
		return nil
	case q.KeepRows == 0:
		return stream.Usagef("scan: method %s iterates over rows, which statistics cannot replace; keep a sample of them: scan INPUT… {profile-only} {sample-rows} %d {method} %[1]s, or use select INPUT… {method} %[1]s",
			r.Name, method.DefaultSample)
	case !q.ProfileOnly:
		return stream.Usagef("{sample-rows} goes with {profile-only}: rows are kept with a profile, before {missing} acts on them; scan twice if you want Gram statistics too")
	case isOverRows && r.original.Options["sample"] != nil: // a plan may have the option, for select
		return stream.Usagef("{sample} sets how many rows select draws; a scan keeps {sample-rows} of them, from which select can draw fewer")
	case r.Weight != "":
		return stream.Usagef("{sample-rows} keeps rows for methods that take no {weight}; leave one of them out")
	case r.Missing == missingDropRow && r.Sparse != "":
		return stream.Usagef("{sample-rows} keeps rows before any is dropped, and {missing} drop-row drops sparse ones as they are read; use {missing} error or zero")
	case r.Missing == missingDropRow && r.From == method.FromGraph:
		return stream.Usagef("{sample-rows} keeps rows before any is dropped, and anchors of method %s come from those that {missing} drop-row leaves; make two profiles, or use {missing} mean or zero", r.Name)
	}
	if isOverRows {
		r.Sample = 0 // the profile is of all rows
	}
	r.keepRows, r.keptRowsMissing = int(q.KeepRows), r.Missing
	return nil
}

func (p *pass) newKeptSample(ds *chunkio.Dataset) *rowsample.Sample {
	g := p.gatherer
	starts := slices.Clone(ds.Cuts())
	slices.Sort(starts) // in a shard, the boundaries of row groups are not in order
	return new(rowsample.New(len(ds.Columns()), anchor.SamplerOptions{
		Rows: g.keepRows, Seed: g.Seed, Limit: p.plan.Limit - p.plan.Program - p.plan.Reading,
		Starts: starts, Bound: p.hashBound(ds)(g.keepRows),
	}))
}

// hashBound returns a function. For a number of rows to sample from the whole input, this function returns an upper
// bound on the hashes of these rows, or 0 for no bound. A shard keeps only rows below it. If rows may be dropped,
// there is no bound, because the number of rows left in the whole is unknown.
func (p *pass) hashBound(ds *chunkio.Dataset) func(rows int) uint64 {
	if shards := max(p.gatherer.scannedShard.count, p.gatherer.shard.Of); shards < 2 || p.gatherer.Where != "" || p.gatherer.Weight != "" || p.opt.Missing == stream.MissingDropRow {
		return noHashBound
	}
	return func(rows int) uint64 { return anchor.HashBound(rows, ds.Rows()) }
}

func noHashBound(int) uint64 { return 0 }

func (r *run) sampleRowsText() string {
	if r.keepRows == 0 {
		return ""
	}
	return strconv.Itoa(r.keepRows)
}

func (e *bundle) requestedOptions() map[string]string {
	policy, keepsRows := e.options[optionSampleMissing]
	if !keepsRows {
		return e.options
	}
	options := maps.Clone(e.options)
	options["missing"] = policy
	delete(options, optionSampleMissing)
	return options
}

func (r *run) addSampleShape(s map[string]string) {
	s[optionSampleRows] = r.sampleRowsText()
	s["seed"] = strconv.FormatUint(r.Seed, 10)
	s[optionSampleMissing] = r.keptRowsMissing
}

// checkSameInputs warns if files keep rows of different inputs, because the positions of these rows may coincide. It
// refuses sketches of different inputs, because rows with equal positions would always be added with the same sign.
func (m *merger) checkSameInputs() error {
	keepsRows, isSketch := m.header.Options[optionSampleRows] != "", (m.kind == kindSketch || m.kind == kindSketchedGraph)
	if !keepsRows && !isSketch || m.header.Part != nil { // all shards of a plan number rows in the same way
		return nil
	}
	for i := range m.files {
		sameInputs := slices.EqualFunc(m.files[0].inputs, m.files[i].inputs, func(a, b stream.Input) bool {
			return a.Fingerprint == b.Fingerprint && a.Rows == b.Rows
		})
		switch {
		case sameInputs:
		case isSketch:
			return stream.Usagef("%s and %s are sketches of other inputs, which number their rows apart, and sketches add up by these numbers; scan all inputs together in shards ({shard} I/N, or a plan)", m.files[0].name, m.files[i].name)
		default:
			m.warnings.add(stream.Textf("its rows were kept by scans of other inputs, which number theirs apart: they are a random sample, but not the one that select draws from all inputs together"))
			return nil
		}
	}
	return nil
}

func (e *bundle) addRowSamples(o *bundle) error {
	switch {
	case (e.rowSample == nil) != (o.rowSample == nil):
		return stream.Usagef("only one of them keeps rows; make both with the same {sample-rows}")
	case e.rowSample == nil:
		return nil
	}
	return e.rowSample.Merge(*o.rowSample)
}

// sampleBytes returns an upper bound on the memory of the row samples in the sum. It uses the header and, if e is not
// nil, the statistics e of one file. It counts dropped rows too.
func (m *merger) sampleBytes(e *bundle) (bytes int64) {
	var coveredRows int64
	for _, r := range m.coverage.stretches {
		coveredRows += r.to - r.from
	}
	d := len(m.header.Columns)
	if keptRows, err := strconv.Atoi(m.header.Options[optionSampleRows]); err == nil {
		bytes += rowsample.SampleBytes(int(min(int64(keptRows), coveredRows)), d)
	}
	if e != nil && e.sample != nil {
		bytes += anchor.SamplerBytes(int(min(int64(e.sample.Rows()), coveredRows)), d)
	}
	return bytes
}
