package ufs

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/shell"
	"github.com/ufs-stream/ufs-stream/stream"
)

// shard is the first shard of its plan that f holds; 0 where it is of no plan, or of all shards:
// then it is the statistics of some files as any other.
func (f *mergedFile) shard() int {
	if f.part == nil || f.part.Complete() || len(f.part.Shards) == 0 {
		return 0
	}
	return f.part.Shards[0].From
}

// settleParts refuses parts that do not make a whole, and finds what they are together.
func (m *merger) settleParts() error {
	at := slices.IndexFunc(m.files, func(f mergedFile) bool { return f.shard() > 0 })
	if at < 0 { // totals, whatever they were made from
		if len(m.files) > 1 {
			m.head.Part = nil
		}
		return nil
	}
	first := &m.files[at]
	if m.Window > 0 || m.Decay > 0 {
		return stream.Usagef("{window} and {decay} are for the files of days, and %s is a part of a plan; merge all parts of the plan first", first.name)
	}
	var shards []shardsOf
	for i := range m.files {
		f := &m.files[i]
		if err := samePlan(first, f); err != nil {
			return err
		}
		for _, r := range f.part.Shards {
			shards = append(shards, shardsOf{r, f})
		}
	}
	together, err := unitedShards(shards)
	if err != nil {
		return err
	}
	whole := *first.part
	whole.Shards = together
	m.head.Part = &whole
	if whole.Complete() || m.Partial {
		return nil
	}
	return m.missing(&whole, first)
}

// samePlan refuses a file that is no part of the same plan and round as first is.
func samePlan(first, f *mergedFile) error {
	if f.part == nil {
		return stream.Usagef("%s is a part of a plan and %s is not: merge all parts of the plan first, then their sum with others", first.name, f.name)
	}
	a, b := first.part, f.part
	switch {
	case a.Plan != b.Plan:
		return stream.Usagef("%s and %s are parts of two plans, %s and %s: merge those of one", first.name, f.name, a.Plan, b.Plan)
	case a.Of != b.Of:
		return stream.Usagef("%s is of %d shards of the plan and %s of %d: shards of another number overlap; merge those of one", first.name, a.Of, f.name, b.Of)
	case a.Round == b.Round:
		return nil
	case a.Round == "" || b.Round == "":
		with, without := first, f
		if a.Round == "" {
			with, without = f, first
		}
		return stream.Usagef("%s was scanned with {profile} and %s without: merge the parts of one round", with.name, without.name)
	}
	return stream.Usagef("%s and %s were scanned with two profiles: merge the parts of one round", first.name, f.name)
}

// shardsOf is some shards, and the file that holds them.
type shardsOf struct {
	stream.ShardRange
	in *mergedFile
}

// unitedShards sorts shards and joins neighbours. A shard that is in two files is refused.
func unitedShards(shards []shardsOf) ([]stream.ShardRange, error) {
	slices.SortStableFunc(shards, func(a, b shardsOf) int { return cmp.Compare(a.From, b.From) })
	var united []stream.ShardRange
	for i, s := range shards {
		switch n := len(united); {
		case n > 0 && s.From <= united[n-1].To: // shards[i-1] ends there: none before it reaches further
			both := stream.ShardRange{From: s.From, To: min(s.To, shards[i-1].To)}
			return nil, stream.Usagef("%s and %s both hold shard %v: give one of them", shards[i-1].in.name, s.in.name, both)
		case n > 0 && united[n-1].To+1 == s.From:
			united[n-1].To = s.To
		default:
			united = append(united, s.ShardRange)
		}
	}
	return united, nil
}

// missing is the error of shards that are not there, with the command that makes them. It is
// about data, not usage: the same request is right once the shards are made.
func (m *merger) missing(whole *stream.Part, first *mergedFile) error {
	missing := whole.Missing()
	folder := folderOf(first.name)
	how := stream.Textf("{plan} JOB.plan.json {shard} %d/%d", missing[0].From, whole.Of)
	switch {
	case whole.Round != "":
		how = stream.Textf("%v {profile} PROFILE.ufs", how)
	case m.kind == kindProfile:
		how = stream.Textf("%v {profile-only}", how)
		if rows := m.head.Options[optionSampleRows]; rows != "" {
			how = stream.Textf("%v {sample-rows} %s", how, rows)
		}
	}
	e := stream.Dataf(folder, "%d of %d shards of the plan %s are there, and %s %s missing", whole.Count(), whole.Of, whole.Plan, stream.ShardList(missing), isOrAre(missing))
	e.Remedy = stream.Textf("make each that is missing by ufs-stream scan %v {o} %s; or add up those that are there, for another merge, with {partial}", how, shell.Quote(folder))
	return e
}

// isOrAre is the verb of a list of shards.
func isOrAre(shards []stream.ShardRange) string {
	if len(shards) == 1 && shards[0].From == shards[0].To {
		return "is"
	}
	return "are"
}

// folderOf is the folder of a file, or of an object, as people may see it, with a slash behind it.
func folderOf(name string) string {
	if !place.IsURL(name) {
		return filepath.Dir(name) + string(filepath.Separator)
	}
	return place.Parent(name)
}

// checkWhole compares the sum of all shards with what their plan says of the whole.
func (m *merger) checkWhole() error {
	p := m.head.Part
	if p == nil || p.Whole == nil || !p.Complete() || len(m.files) == 1 {
		return nil
	}
	var rows, covered int64
	for _, in := range m.coverage.files {
		rows += in.Rows
	}
	for _, r := range m.coverage.runs {
		covered += r.to - r.from
	}
	if want := p.Whole; rows != want.Rows || covered != want.Rows || len(m.coverage.files) > want.Files {
		return &stream.DataError{
			Path: folderOf(m.files[0].name), RowGroup: -1, Row: -1,
			Err: stream.Errorf("all %d shards are there, but they cover %s of %s rows of %d files, and the plan has %s rows of %d files",
				p.Of, comma(covered), comma(rows), len(m.coverage.files), comma(want.Rows), want.Files),
			Remedy: stream.Textf("make the plan again, and scan all shards by it"),
		}
	}
	return nil
}
