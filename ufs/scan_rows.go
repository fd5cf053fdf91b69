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

// A profile may keep a sample of rows, so that methods that iterate over rows can select from it: the rows that
// Select would draw from the data. The sample of rows that anchors are taken from is another one: a missing
// policy has acted on it.

// The records of a statistics file about its sample of rows.
const (
	optionSampleRows = "sample-rows"
	// The missing policy requested for the scan. It acts when methods select from the rows: the profile in the
	// file has seen all of them.
	optionSampleMissing = "sample-missing"
)

// settleKeptRows settles the number of rows that a scan keeps. It refuses options that allow no sample, and
// methods over rows without one.
func (r *run) settleKeptRows(q ScanRequest) error {
	isOverRows := r.From == method.FromRows
	switch {
	case q.KeepRows < 0 || q.KeepRows > rowsample.MostRows:
		return stream.Usagef("{sample-rows} %d: want a number of rows up to %d", q.KeepRows, rowsample.MostRows)
	case q.KeepRows == 0 && !isOverRows:
		return nil
	case q.KeepRows == 0:
		return stream.Usagef("scan: method %s iterates over rows, which no statistics stand for; keep a sample of them: scan INPUT… {profile-only} {sample-rows} %d {method} %[1]s, or use select INPUT… {method} %[1]s",
			r.Name, method.DefaultSample)
	case !q.ProfileOnly:
		return stream.Usagef("{sample-rows} goes with {profile-only}: rows are kept beside a profile, before {missing} acts on them; scan twice where Gram statistics are wanted too")
	case isOverRows && r.original.Options["sample"] != nil: // an option in a plan is for select
		return stream.Usagef("{sample} says how many rows select draws; a scan keeps {sample-rows} of them, from which select can draw fewer")
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
	slices.Sort(starts) // in a shard the end comes second
	return new(rowsample.New(len(ds.Columns()), anchor.SamplerOptions{
		Rows: g.keepRows, Seed: g.Seed, Limit: p.plan.Limit - p.plan.Program - p.plan.Reading,
		Starts: starts, Bound: p.hashBound(ds)(g.keepRows),
	}))
}

// hashBound is the bound on hashes under which a shard keeps rows for a sample of the whole. If rows may be
// dropped, the number left in the whole is unknown, and there is no bound.
func (p *pass) hashBound(ds *chunkio.Dataset) func(rows int) uint64 {
	if shards := max(p.gatherer.scannedShard.count, p.gatherer.shard.Of); shards < 2 || p.gatherer.Where != "" || p.gatherer.Weight != "" || p.opt.Missing == stream.MissingDropRow {
		return noBound
	}
	return func(rows int) uint64 { return anchor.HashBound(rows, ds.Rows()) }
}

func noBound(int) uint64 { return 0 }

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

// checkSameInputs warns if files keep rows of different inputs, whose positions may coincide, and refuses
// sketches of such inputs: rows of the same position would always be added with the same sign.
func (m *merger) checkSameInputs() error {
	keepsRows, isSketch := m.header.Options[optionSampleRows] != "", (m.kind == kindSketch || m.kind == kindSketchedGraph)
	if !keepsRows && !isSketch || m.header.Part != nil { // shards of a plan are numbered alike
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

// sampleBytes bounds the memory of the row samples in the sum, by the header and by e, one of the files, if it
// is not nil. Dropped rows are counted as well.
func (m *merger) sampleBytes(e *bundle) (bytes int64) {
	var coveredRows int64
	for _, r := range m.coverage.runs {
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
