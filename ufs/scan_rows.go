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

// A profile may keep a sample of rows, so that methods that iterate over rows can select from
// it: those that Select would draw from the data. The sample of rows that anchors are taken from
// is another one: a policy for missing values has acted on it.

// What a statistics file with a sample of rows records of it.
const (
	optionSampleRows = "sample-rows"
	// The policy for missing values that the scan was asked for. It acts when rows are selected
	// from: the profile beside them has seen everything.
	optionSampleMissing = "sample-missing"
)

// keepSample settles how many rows a scan keeps. It refuses what no sample can be kept of, and
// methods over rows without one.
func (r *run) keepSample(q ScanRequest) error {
	overRows := r.From == method.FromRows
	switch {
	case q.KeepRows < 0 || q.KeepRows > rowsample.MostRows:
		return stream.Usagef("{sample-rows} %d: want a number of rows up to %d", q.KeepRows, rowsample.MostRows)
	case q.KeepRows == 0 && !overRows:
		return nil
	case q.KeepRows == 0:
		return stream.Usagef("scan: method %s iterates over rows, which no statistics stand for; keep a sample of them: scan INPUT… {profile-only} {sample-rows} %d {method} %[1]s, or use select INPUT… {method} %[1]s",
			r.Name, method.DefaultSample)
	case !q.ProfileOnly:
		return stream.Usagef("{sample-rows} goes with {profile-only}: rows are kept beside a profile, before {missing} acts on them; scan twice where Gram statistics are wanted too")
	case overRows && r.original.Options["sample"] != nil: // of a plan it is for select
		return stream.Usagef("{sample} says how many rows select draws; a scan keeps {sample-rows} of them, from which select can draw fewer")
	case r.Weight != "":
		return stream.Usagef("{sample-rows} keeps rows for methods that take no {weight}; leave one of them out")
	case r.Missing == missingDropRow && r.Sparse != "":
		return stream.Usagef("{sample-rows} keeps rows before any is dropped, and {missing} drop-row drops sparse ones as they are read; use {missing} error or zero")
	case r.Missing == missingDropRow && r.From == method.FromGraph:
		return stream.Usagef("{sample-rows} keeps rows before any is dropped, and anchors of method %s come from those that {missing} drop-row leaves; make two profiles, or use {missing} mean or zero", r.Name)
	}
	if overRows {
		r.Sample = 0 // the profile is of all rows
	}
	r.keepRows, r.keptRowsMissing = int(q.KeepRows), r.Missing
	return nil
}

// keeper is an empty sample of the rows that the scan keeps.
func (p *pass) keeper(ds *chunkio.Dataset) *rowsample.Sample {
	g := p.g
	starts := slices.Clone(ds.Cuts())
	slices.Sort(starts) // of a shard the end comes second
	return new(rowsample.New(len(ds.Columns()), anchor.SamplerOptions{
		Rows: g.keepRows, Seed: g.Seed, Limit: p.plan.Limit - p.plan.Program - p.plan.Reading,
		Starts: starts, Bound: p.bound(ds)(g.keepRows),
	}))
}

// bound is the bound on hashes under which a shard keeps rows for a sample of the whole. Where
// rows may drop out of the whole nobody knows how many are left, and there is none.
func (p *pass) bound(ds *chunkio.Dataset) func(rows int) uint64 {
	if shards := max(p.g.piece.count, p.g.shard.Of); shards < 2 || p.g.Where != "" || p.g.Weight != "" || p.opt.Missing == stream.MissingDropRow {
		return noBound
	}
	return func(rows int) uint64 { return anchor.HashBound(rows, ds.Rows()) }
}

func noBound(int) uint64 { return 0 }

// sampleRows is how many rows the scan keeps, as the file records it; empty for none.
func (r *run) sampleRows() string {
	if r.keepRows == 0 {
		return ""
	}
	return strconv.Itoa(r.keepRows)
}

// asked are the options that e records, as the scan was asked for them.
func (e *bundle) asked() map[string]string {
	policy, kept := e.options[optionSampleMissing]
	if !kept {
		return e.options
	}
	options := maps.Clone(e.options)
	options["missing"] = policy
	delete(options, optionSampleMissing)
	return options
}

// sampleShape lists the settings that shape a sample of rows, by option.
func (r *run) sampleShape(s map[string]string) {
	s[optionSampleRows] = r.sampleRows()
	s["seed"] = strconv.FormatUint(r.Seed, 10)
	s[optionSampleMissing] = r.keptRowsMissing
}

// warnApart warns where files keep rows of other inputs, so that theirs may have the same positions,
// and refuses sketches of such: rows of the same position would always be added with the same sign.
func (m *merger) warnApart() error {
	keeps, sketched := m.header.Options[optionSampleRows] != "", (m.kind == kindSketch || m.kind == kindSketchedGraph)
	if !keeps && !sketched || m.header.Part != nil { // shards of a plan are numbered alike
		return nil
	}
	for i := range m.files {
		alike := slices.EqualFunc(m.files[0].inputs, m.files[i].inputs, func(a, b stream.Input) bool {
			return a.Fingerprint == b.Fingerprint && a.Rows == b.Rows
		})
		switch {
		case alike:
		case sketched:
			return stream.Usagef("%s and %s are sketches of other inputs, which number their rows apart, and sketches add up by these numbers; scan all inputs together in shards ({shard} I/N, or a plan)", m.files[0].name, m.files[i].name)
		default:
			m.warnings.add(stream.Textf("its rows were kept by scans of other inputs, which number theirs apart: they are a random sample, but not the one that select draws from all inputs together"))
			return nil
		}
	}
	return nil
}

// addRows merges the rows that profiles keep.
func (e *bundle) addRows(o *bundle) error {
	switch {
	case (e.rowSample == nil) != (o.rowSample == nil):
		return stream.Usagef("only one of them keeps rows; make both with the same {sample-rows}")
	case e.rowSample == nil:
		return nil
	}
	return e.rowSample.Merge(*o.rowSample)
}

// sampleBytes bounds what the samples of rows of the sum hold, as far as the header tells and, where
// it is not nil, one of the files. Rows that dropped out are counted as well.
func (m *merger) sampleBytes(e *bundle) (bytes int64) {
	var covered int64
	for _, r := range m.coverage.runs {
		covered += r.to - r.from
	}
	d := len(m.header.Columns)
	if kept, err := strconv.Atoi(m.header.Options[optionSampleRows]); err == nil {
		bytes += rowsample.Bytes(int(min(int64(kept), covered)), d)
	}
	if e != nil && e.sample != nil {
		bytes += anchor.SamplerBytes(int(min(int64(e.sample.Rows()), covered)), d)
	}
	return bytes
}
