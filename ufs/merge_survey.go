package ufs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// surveyed is how many headers in object stores are asked for at a time: each is a request or
	// two of some 20 ms, and 10,000 of them take half a minute like this.
	surveyed = 8
	// What the books take of a file, an input and a range: in a header as it is read, in the
	// coverage of all files, and in the JSON of the sum's header.
	fileBytes, inputBytes, rangeBytes = 512, 1 << 10, 128
	nameBytes                         = 256 // a column that is left out: in a map and a list, and in that JSON
)

// mergedFile is what the header of a file says, without what all of them have in common.
type mergedFile struct {
	path     string
	name     string // as people may see it
	check    uint64 // of the header
	kind     string
	decay    string // option; the others are those of all files
	window   string
	part     *stream.Part
	table    *stream.Table
	inputs   []stream.Input
	ranges   []stream.Range
	rows     int64 // that ranges cover
	order    []int // of its columns: that of the sum is f's order[j]; nil where they stand alike
	warnings []string
	differs  error // from the file that was read first
}

// survey reads the headers of all files, puts them in the order in which they are added, and
// refuses what cannot be added up. No statistics are read for this.
func (m *merger) survey(ctx context.Context, paths []string) error {
	var first chunkio.StatsHeader
	var columns sumColumns
	lowest := 0 // the file whose header is that of the sum
	for i, head := range m.heads(ctx, paths) {
		if head.err != nil {
			return head.err
		}
		h := head.Header
		f := mergedFile{
			path: paths[i], name: place.Name(paths[i]), check: head.Check, kind: h.Kind, decay: h.Options[optionDecay], window: h.Options[optionWindow],
			part: h.Part, table: h.Table, inputs: h.Inputs, ranges: h.Ranges, rows: rowsOf(h.Ranges), warnings: h.Warnings,
		}
		if m.Decay > 0 { // recorded of the sum in the end; a total differs in it from a day's file
			delete(h.Options, optionDecay)
		}
		if i == 0 {
			first, m.head = h, h
		} else {
			first.Options, h.Options = agreeOnMissing(first.Options, h.Options)
			if f.order, f.differs = alikeHeaders(first, h); f.order != nil {
				f.order = m.sharedOrder(f.order)
			}
		}
		if f.differs == nil && h.Kind == first.Kind {
			m.bookkept += columns.add(f.path, h, f.order)
		}
		m.files = append(m.files, f)
		if i > 0 && m.before(&f, &m.files[lowest]) {
			lowest, m.head = i, h
		}
		m.bookkept += fileBytes + inputBytes*int64(len(h.Inputs)) + rangeBytes*int64(len(h.Ranges))
		for _, w := range h.Warnings {
			m.bookkept += int64(len(w)) + rangeBytes
		}
		// What is held of little is refused with the statistics. Of files that list very many columns, those behind are alike.
		if m.bookkept > max(m.q.Memory-programBytes, programBytes) {
			need := programBytes + m.bookkept/int64(i+1)*int64(len(paths))
			return &stream.MemoryError{What: "merging these files", Need: max(need, programBytes+m.bookkept), Limit: m.q.Memory}
		}
	}
	m.head.Options, _ = agreeOnMissing(m.head.Options, first.Options)
	m.order(lowest)
	firstRead := place.Name(paths[0])
	for i := range m.files {
		if err := m.accepts(&m.files[0], &m.files[i], i == 0); err != nil {
			return err
		}
		if err := m.files[i].differs; err != nil {
			return stream.Errorf("cannot merge %s with %s: %w", firstRead, m.files[i].name, err)
		}
	}
	m.kind = m.files[0].kind
	m.settleColumns(&columns)
	if err := m.settleParts(); err != nil {
		return err
	}
	if err := m.cover(); err != nil {
		return err
	}
	return m.headerFits()
}

// headerFits refuses a sum whose header no file can have, which writing it would find when all is added up.
func (m *merger) headerFits() error {
	const added = 1 << 10 // by the decay, the window and the count of rows that were dropped
	h := m.described().header(nil)
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if most := cmp.Or(m.mostHeader, chunkio.MaxStatsHeader); len(text)+added > most {
		return stream.Usagef("cannot merge %s: the header of the sum would have %s bytes, and at most %s are possible, for %s, %s that are left out and %s; merge fewer files into one, or scan without what is left out",
			plural(len(m.files), "file"), comma(int64(len(text)+added)), comma(int64(most)),
			plural(len(h.Columns), "feature"), plural(len(h.LeftOut), "column"), plural(len(h.Inputs), "input file"))
	}
	return nil
}

// sharedOrder is the order of a file before this one that is the same.
func (m *merger) sharedOrder(order []int) []int {
	if n := len(m.files); n > 0 && order != nil && slices.Equal(m.files[n-1].order, order) {
		return m.files[n-1].order
	}
	m.bookkept += 2 * 8 * int64(len(order)) // once more as settleColumns has it
	return order
}

// headRead is a header, or why it cannot be read.
type headRead struct {
	chunkio.StatsHead
	err error
}

// heads reads headers, a few ahead, in order.
func (m *merger) heads(ctx context.Context, paths []string) iter.Seq2[int, headRead] {
	return func(yield func(int, headRead) bool) {
		ctx, cancel := context.WithCancel(ctx)
		width := m.q.Threads
		if slices.ContainsFunc(paths, place.IsURL) {
			width = max(width, surveyed)
		}
		reads := make([]chan headRead, len(paths))
		started := 0
		var like *chunkio.StatsHead // the first one: columns of others that are the same are shared
		from := m.q.fetching()
		defer func() {
			cancel()
			for _, r := range reads[:started] {
				if r != nil {
					<-r
				}
			}
		}()
		for i := range paths {
			if i == 1 { // what the first took tells how many are read at a time, and what each may take
				width = int(max(min(int64(width), from.Memory/(2*max(like.Took, 1))), 1))
				from.Memory /= int64(width)
			}
			for ; started < min(i+width, len(paths)) && (i > 0 || started == 0); started++ {
				r, path, beside := make(chan headRead, 1), paths[started], like
				reads[started] = r
				go func() {
					head, err := chunkio.ReadStatsHead(ctx, path, beside, from)
					r <- headRead{head, m.ofAllMemory(err)}
				}()
			}
			head := <-reads[i]
			reads[i] = nil
			if i == 0 {
				like = &head.StatsHead
			}
			if !yield(i, head) {
				return
			}
		}
	}
}

// ofAllMemory turns a complaint of reading a header about its share of the memory into one about the limit.
func (m *merger) ofAllMemory(err error) error {
	short, ok := errors.AsType[*stream.MemoryError](err)
	if !ok || !short.OfMemory() {
		return err
	}
	whole, all := *short, m.q.fetching().Memory
	whole.Need = int64(float64(short.Need) * float64(all) / float64(short.Limit))
	return m.q.wholeLimit(&whole)
}

// alikeHeaders says in what two files differ that cannot be added up, and else how the columns of a
// stand in b: see matchColumns.
func alikeHeaders(a, b chunkio.StatsHeader) (order []int, err error) {
	if a.Kind != b.Kind {
		return nil, nil // which is told by accepts
	}
	if order, err = matchColumns(a, b); err != nil {
		return nil, err
	}
	return order, alikeOptions(a, b, order)
}

// agreeOnMissing gives the options of two files one policy for missing values if one of them was scanned under error,
// which was the default once, so that nothing is missing there, and the other keeps what is missing.
func agreeOnMissing(a, b map[string]string) (map[string]string, map[string]string) {
	const missing = "missing"
	adopt := func(own, other map[string]string) map[string]string {
		if own[missing] == missingError && slices.Contains(keptMissing(), other[missing]) {
			own = maps.Clone(own)
			own[missing] = other[missing]
		}
		return own
	}
	return adopt(a, b), adopt(b, a)
}

func alikeOptions(a, b chunkio.StatsHeader, order []int) error {
	if order != nil && a.Kind != kindGram && a.Kind != kindProfile {
		return stream.Usagef("their columns differ in order, and the anchors of a graph know one: scan both with one {profile}, which settles the order")
	}
	// Parts may be of several formats, and columns of the same names are the same however the names were found.
	withoutHeader := func(options map[string]string) map[string]string {
		options = maps.Clone(options)
		delete(options, optionHeader)
		return options
	}
	if a.Options, b.Options = withoutHeader(a.Options), withoutHeader(b.Options); !maps.Equal(a.Options, b.Options) {
		if x, y := a.Options[optionStability], b.Options[optionStability]; x != y {
			return stream.Usagef("their numbers of hash shards differ (%s and %s): scan all parts with the same {stability}, or all without", cmp.Or(x, "none"), cmp.Or(y, "none"))
		}
		return stream.Usagef("their options differ: %v", optionsDiffer(a.Options, b.Options))
	}
	return nil
}

// before says whether f is to be added before g, which came before it, and all others.
func (m *merger) before(f, g *mergedFile) bool {
	if a, b := f.shard(), g.shard(); a > 0 && b > 0 {
		return a < b
	}
	return m.totalFirst() && f.decay != "" && g.decay == ""
}

// totalFirst is whether a total of the days before is to go first.
func (m *merger) totalFirst() bool { return m.Decay > 0 && m.Window == 0 }

// order puts the files in the order in which they are added: parts by their shards, so that
// the same parts give the same bits in whatever order they are named.
func (m *merger) order(lowest int) {
	switch {
	case !slices.ContainsFunc(m.files, func(f mergedFile) bool { return f.shard() == 0 }):
		slices.SortStableFunc(m.files, func(a, b mergedFile) int { return a.shard() - b.shard() })
	case m.totalFirst():
		m.files = slices.Concat(m.files[lowest:lowest+1], m.files[:lowest], m.files[lowest+1:])
	}
}

// cover adds up what the files cover, and refuses rows that two of them have.
func (m *merger) cover() error {
	m.coverage.pathsDiffer = m.head.Part != nil
	if err := m.warnApart(); err != nil {
		return err
	}
	for i := range m.files {
		f := &m.files[i]
		m.coverage.add(i, f.inputs, f.ranges)
		for _, w := range f.warnings {
			if isDropped(w) { // each file tells of its own rows: the sum does of all
				m.dropped = true
				continue
			}
			m.warnings.add(stream.PlainText(w))
		}
		if t := m.head.Table; t != nil && (f.table == nil || *f.table != *t) {
			m.head.Table = nil // no one version has all inputs
		}
		f.inputs, f.ranges, f.warnings, f.table = nil, nil, nil, nil
	}
	if o := m.coverage.firstOverlap(); o != nil {
		from, to, path := o.sharedRows(&m.coverage)
		return stream.Errorf("cannot merge %s with %s: %w", m.files[o.first.source].name, m.files[o.second.source].name,
			stream.Usagef("both cover rows %d to %d of %s", from, to, path))
	}
	return m.checkWhole()
}

// mostWarnings is how many different warnings a sum of many files keeps.
const mostWarnings = 100

// warnings are different ones, in the order in which they come, and not too many.
type warnings struct {
	kept []stream.Text
	seen map[string]bool
	more int
}

func (w *warnings) add(text stream.Text) {
	s := text.String()
	switch {
	case w.seen[s]:
		return
	case len(w.kept) == mostWarnings:
		w.more++
		return
	case w.seen == nil:
		w.seen = make(map[string]bool)
	}
	w.seen[s] = true
	w.kept = append(w.kept, text)
}

func (w *warnings) list() []stream.Text {
	if w.more == 0 {
		return w.kept
	}
	return append(slices.Clip(w.kept), stream.Textf("%s more warnings of the files that were merged: inspect shows those of one file", comma(int64(w.more))))
}
