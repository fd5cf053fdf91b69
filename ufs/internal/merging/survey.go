package merging

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowsample"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

const (
	// headersAtOnce is the number of headers in object stores that are requested at a time: each needs one or two
	// requests of about 20 ms, so 10,000 headers need about half a minute.
	headersAtOnce = 8
	// The bookkeeping memory for a file, for an input and for a range of rows. Each is stored in a header as it is read,
	// in the coverage of all files, and in the JSON text of the header of the sum.
	fileBytes, inputBytes, rangeBytes = 512, 1 << 10, 128
	nameBytes                         = 256 // for a column that is left out: in a map, in a list, and in that JSON text
)

// mergedFile holds the parts of the header of a file that may differ between the files of a merge.
type mergedFile struct {
	path           string
	name           string // display name of path
	headerChecksum uint64 // checksum of the header
	kind           string
	decay          string // option {decay}; the options without a field here are equal in all files
	window         string // option {window}
	part           *stream.Part
	table          *stream.Table
	since          *int64          // as StatsHeader.Since
	losses         *chunkio.Losses // as StatsHeader.Losses
	subtracted     int64
	inputs         []stream.Input
	ranges         []stream.Range
	rows           int64 // number of rows in ranges
	columnOrder    []int // column j of the sum is column columnOrder[j] of this file; nil if all columns agree
	warnings       []string
	difference     error // how the header differs from the header that was read first; nil if the files can be added
}

// readHeaders reads the headers of all files, sorts the files into the order of their addition, and refuses files that
// cannot be added up. The first added paths are added, and the others subtracted. It reads no statistics.
func (m *merger) readHeaders(ctx context.Context, paths []string, added int) error {
	var first chunkio.StatsHeader
	var columns sumColumns
	lowest := 0 // index of the file whose header becomes the header of the sum
	for i, head := range m.fetchHeaders(ctx, paths) {
		if head.err != nil {
			return head.err
		}
		h := head.Header
		f := mergedFile{
			path: paths[i], name: place.DisplayName(paths[i]), headerChecksum: head.Check, kind: h.Kind, decay: h.Options[request.OptionDecay], window: h.Options[request.OptionWindow],
			part: h.Part, table: h.Table, inputs: h.Inputs, ranges: h.Ranges, rows: statistics.CountRows(h.Ranges), warnings: h.Warnings,
			since: h.Since, losses: h.Losses, subtracted: h.Subtracted,
		}
		if m.Decay > 0 { // recordMergeOptions records {decay}; decayed totals and files of days differ in it
			delete(h.Options, request.OptionDecay)
		}
		if added < len(paths) { // the rest is no window any more
			delete(h.Options, request.OptionWindow)
		}
		if i == 0 {
			first, m.header = h, h
		} else {
			first.Options, h.Options = agreeOnMissing(first.Options, h.Options)
			if f.columnOrder, f.difference = compareHeaders(first, h); f.columnOrder != nil {
				f.columnOrder = m.shareOrder(f.columnOrder)
			}
		}
		if f.difference == nil && h.Kind == first.Kind && i < added {
			m.bookkeeping += columns.addHeader(f.path, h, f.columnOrder)
		}
		m.files = append(m.files, f)
		if i > 0 && i < added && m.goesBefore(&f, &m.files[lowest]) {
			lowest, m.header = i, h
		}
		m.bookkeeping += fileBytes + inputBytes*int64(len(h.Inputs)) + rangeBytes*int64(len(h.Ranges))
		if h.Losses != nil {
			m.bookkeeping += inputBytes*int64(len(h.Losses.Inputs)) + rangeBytes*int64(len(h.Losses.Ranges))
		}
		for _, w := range h.Warnings {
			m.bookkeeping += int64(len(w)) + rangeBytes
		}
		// This check finds only a large excess; a smaller one is refused later, when statistics are read. The estimate
		// assumes that the remaining files are like the files read so far.
		if m.bookkeeping > max(m.request.Limits.Memory-budget.ProgramBytes, budget.ProgramBytes) {
			need := budget.ProgramBytes + m.bookkeeping/int64(i+1)*int64(len(paths))
			return &stream.MemoryError{What: "merging these files", Need: max(need, budget.ProgramBytes+m.bookkeeping), Limit: m.request.Limits.Memory}
		}
	}
	m.header.Options, _ = agreeOnMissing(m.header.Options, first.Options)
	m.orderFiles(lowest)
	firstRead := place.DisplayName(paths[0])
	for i := range m.files {
		if err := m.checkAddable(&m.files[0], &m.files[i], i == 0); err != nil {
			return err
		}
		if err := m.files[i].difference; err != nil {
			return stream.Errorf("cannot merge %s with %s: %w", firstRead, m.files[i].name, err)
		}
	}
	m.kind = m.files[0].kind
	settleColumns(m, &columns)
	m.files, m.minus = m.files[:added:added], m.files[added:]
	if err := cmp.Or(m.checkPlanParts(), checkMinus(m), checkVersions(m)); err != nil {
		return err
	}
	if err := m.addCoverage(); err != nil {
		return err
	}
	return m.checkHeaderSize()
}

// checkHeaderSize refuses a merge whose sum would have too long a header. Otherwise writing the sum would fail.
func (m *merger) checkHeaderSize() error {
	const added = 1 << 10 // bytes that {decay}, {window} and the count of dropped rows may add
	h := m.bundleOfHeader().StatsHeader(nil)
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if most := cmp.Or(m.MaxHeader, chunkio.MaxStatsHeader); len(text)+added > most {
		return stream.Usagef("cannot merge %s: the header of the sum would have %s bytes, and at most %s are possible, for %s, %s that are left out and %s; merge fewer files into one, or scan without what is left out",
			wording.CountNoun(len(m.files), "file"), wording.WithCommas(int64(len(text)+added)), wording.WithCommas(int64(most)),
			wording.CountNoun(len(h.Columns), "feature"), wording.CountNoun(len(h.LeftOut), "column"), wording.CountNoun(len(h.Inputs), "input file"))
	}
	return nil
}

// shareOrder returns the column order of the previous file if it is equal to order, to save memory, or else order.
func (m *merger) shareOrder(order []int) []int {
	if n := len(m.files); n > 0 && order != nil && slices.Equal(m.files[n-1].columnOrder, order) {
		return m.files[n-1].columnOrder
	}
	m.bookkeeping += 2 * 8 * int64(len(order)) // settleColumns makes a second slice of this length
	return order
}

type headerResult struct {
	chunkio.StatsHead
	err error
}

// fetchHeaders yields the headers of the files in order, and reads a few headers in advance.
func (m *merger) fetchHeaders(ctx context.Context, paths []string) iter.Seq2[int, headerResult] {
	return func(yield func(int, headerResult) bool) {
		ctx, cancel := context.WithCancel(ctx)
		width := m.request.Limits.Threads
		if slices.ContainsFunc(paths, place.IsURL) {
			width = max(width, headersAtOnce)
		}
		reads := make([]chan headerResult, len(paths))
		started := 0
		var firstHead *chunkio.StatsHead // the first header: later headers share its columns if theirs are equal
		from := budget.DocumentOptions(m.request)
		defer func() {
			cancel()
			for _, r := range reads[:started] {
				if r != nil {
					<-r
				}
			}
		}()
		for i := range paths {
			if i == 1 { // the memory for the first header determines the number of parallel reads and the memory of each
				width = int(max(min(int64(width), from.Memory/(2*max(firstHead.Took, 1))), 1))
				from.Memory /= int64(width)
			}
			for ; started < min(i+width, len(paths)) && (i > 0 || started == 0); started++ {
				r, path, shared := make(chan headerResult, 1), paths[started], firstHead
				reads[started] = r
				go func() {
					head, err := chunkio.ReadStatsHead(ctx, path, shared, from)
					r <- headerResult{head, m.errForWholeMerge(err)}
				}()
			}
			head := <-reads[i]
			reads[i] = nil
			if i == 0 {
				firstHead = &head.StatsHead
			}
			if !yield(i, head) {
				return
			}
		}
	}
}

func (m *merger) errForWholeMerge(err error) error {
	short, ok := errors.AsType[*stream.MemoryError](err)
	if !ok || !short.OfMemory() {
		return err
	}
	whole, all := *short, budget.DocumentOptions(m.request).Memory
	whole.Need = int64(float64(short.Need) * float64(all) / float64(short.Limit))
	return budget.ErrForLimit(m.request, &whole)
}

// compareHeaders returns an error with the difference that prevents adding two files. If there is no such difference,
// it returns the order of the columns of b, as matchColumns does.
func compareHeaders(a, b chunkio.StatsHeader) (order []int, err error) {
	if a.Kind != b.Kind {
		return nil, nil // checkAddable reports it
	}
	if order, err = matchColumns(a, b); err != nil {
		if a.Since != nil || b.Since != nil {
			err = stream.Usagef("%w; if the columns of the table have changed since that version, scan the whole table, without {since}", err)
		}
		return nil, err
	}
	return order, compareOptions(a, b, order)
}

// agreeOnMissing returns the options of two files, with equal missing policies if one file was scanned under the policy
// error and the other under a policy that keeps missing values. A file scanned under error has no missing values, so
// the policy of the other file can replace it. In earlier versions error was the default.
func agreeOnMissing(a, b map[string]string) (map[string]string, map[string]string) {
	const missing = "missing"
	adopt := func(own, other map[string]string) map[string]string {
		if own[missing] == request.MissingError && slices.Contains(request.KeptMissing(), other[missing]) {
			own = maps.Clone(own)
			own[missing] = other[missing]
		}
		return own
	}
	return adopt(a, b), adopt(b, a)
}

func compareOptions(a, b chunkio.StatsHeader, order []int) error {
	if order != nil && a.Kind != statistics.KindGram && a.Kind != statistics.KindProfile {
		return stream.Usagef("their columns differ in order, and the anchors of a graph know one: scan both with one {profile}, which settles the order")
	}
	// Parts may have different formats: columns with equal names are the same, with or without a header.
	withoutHeader := func(options map[string]string) map[string]string {
		options = maps.Clone(options)
		delete(options, request.OptionHeader)
		return options
	}
	if a.Options, b.Options = withoutHeader(a.Options), withoutHeader(b.Options); !maps.Equal(a.Options, b.Options) {
		if x, y := a.Options[request.OptionStability], b.Options[request.OptionStability]; x != y {
			return stream.Usagef("their numbers of hash shards differ (%s and %s): scan all parts with the same {stability}, or all without", cmp.Or(x, "none"), cmp.Or(y, "none"))
		}
		return stream.Usagef("their options differ: %v", statistics.FirstOptionDifference(a.Options, b.Options))
	}
	return nil
}

// goesBefore reports whether f must be added before g, which so far is the first file in the order of addition.
func (m *merger) goesBefore(f, g *mergedFile) bool {
	if a, b := f.firstShard(), g.firstShard(); a > 0 && b > 0 {
		return a < b
	}
	return m.putsTotalFirst() && f.decay != "" && g.decay == ""
}

func (m *merger) putsTotalFirst() bool { return m.Decay > 0 && m.Window == 0 }

// orderFiles sorts the files into the order of their addition. Parts of a plan are sorted by their shards, so that the
// sum has the same bits in whatever order the user names them. A decayed total, with index lowest, comes first.
func (m *merger) orderFiles(lowest int) {
	switch {
	case len(m.Minus) > 0: // in the given order, the files to subtract last
	case !slices.ContainsFunc(m.files, func(f mergedFile) bool { return f.firstShard() == 0 }):
		slices.SortStableFunc(m.files, func(a, b mergedFile) int { return a.firstShard() - b.firstShard() })
	case m.putsTotalFirst():
		m.files = slices.Concat(m.files[lowest:lowest+1], m.files[:lowest], m.files[lowest+1:])
	}
}

func (m *merger) addCoverage() error {
	m.coverage.PathsDiffer = m.header.Part != nil
	if err := m.checkSameInputs(); err != nil {
		return err
	}
	hasChanges := slices.ContainsFunc(m.files, func(f mergedFile) bool { return f.since != nil })
	for i := range m.files {
		f := &m.files[i]
		addChangedCoverage(m, i)
		m.coverage.AddRanges(i, f.inputs, f.ranges)
		for _, w := range f.warnings {
			if statistics.IsDroppedWarning(w) { // this counts the dropped rows of one file: the warning of the sum counts all
				m.hasDroppedRows = true
				continue
			}
			m.warnings.add(stream.PlainText(w))
		}
		if t := m.header.Table; t != nil && !hasChanges && (f.table == nil || *f.table != *t) {
			m.header.Table = nil // the inputs belong to different versions of the table
		}
		f.inputs, f.ranges, f.warnings, f.table = nil, nil, nil, nil
	}
	all := slices.Concat(m.files, m.minus)
	for i := range m.minus {
		m.lossCoverage.AddRanges(len(m.files)+i, m.minus[i].inputs, m.minus[i].ranges)
	}
	for _, c := range []*statistics.Coverage{&m.coverage, &m.lossCoverage} {
		if o := c.FirstOverlap(); o != nil {
			from, to, path := o.SharedRows(c)
			return stream.Errorf("cannot merge %s with %s: %w", all[o.First.StatsFile].name, all[o.Second.StatsFile].name,
				stream.Usagef("both cover rows %d to %d of %s", from, to, path))
		}
	}
	switch {
	case len(m.minus) > 0:
		return settleMinus(m)
	case hasChanges:
		if err := settleChanges(m); err != nil {
			return err
		}
	}
	return m.checkPlanCoverage()
}

// maxWarnings is the number of different warnings that a sum of many files keeps.
const maxWarnings = 100

// warningCollector collects different warnings, in order of arrival, up to maxWarnings.
type warningCollector struct {
	texts   []stream.Text
	seen    map[string]bool
	omitted int
}

func (w *warningCollector) add(text stream.Text) {
	s := text.String()
	switch {
	case w.seen[s]:
		return
	case len(w.texts) == maxWarnings:
		w.omitted++
		return
	case w.seen == nil:
		w.seen = make(map[string]bool)
	}
	w.seen[s] = true
	w.texts = append(w.texts, text)
}

func (w *warningCollector) allTexts() []stream.Text {
	if w.omitted == 0 {
		return w.texts
	}
	return append(slices.Clip(w.texts), stream.Textf("%s more warnings of the files that were merged: inspect shows those of one file", wording.WithCommas(int64(w.omitted))))
}

// checkSameInputs warns if files keep rows of different inputs, because the positions of these rows may coincide. It
// refuses sketches of different inputs, because rows with equal positions would always be added with the same sign.
func (m *merger) checkSameInputs() error {
	keepsRows, isSketch := m.header.Options[request.OptionSampleRows] != "", (m.kind == statistics.KindSketch || m.kind == statistics.KindSketchedGraph)
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

// sampleBytes returns an upper bound on the memory of the row samples in the sum. It uses the header and, if e is not
// nil, the statistics e of one file. It counts dropped rows too.
func (m *merger) sampleBytes(e *statistics.Bundle) (bytes int64) {
	var coveredRows int64
	for _, r := range m.coverage.Stretches {
		coveredRows += r.To - r.From
	}
	d := len(m.header.Columns)
	if keptRows, err := strconv.Atoi(m.header.Options[request.OptionSampleRows]); err == nil {
		bytes += rowsample.SampleBytes(int(min(int64(keptRows), coveredRows)), d)
	}
	if e != nil && e.Sample != nil {
		bytes += anchor.SamplerBytes(int(min(int64(e.Sample.Options().Rows), coveredRows)), d)
	}
	return bytes
}
