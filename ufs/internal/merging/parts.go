package merging

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/app/shell"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// firstShard returns the number of the first shard in f, if f is a part of a plan. It returns 0 if f does not belong to
// a plan or contains all shards of one, because f is then like any other statistics file.
func (f *mergedFile) firstShard() int {
	if f.part == nil || f.part.Complete() || len(f.part.Shards) == 0 {
		return 0
	}
	return f.part.Shards[0].From
}

func (m *merger) checkPlanParts() error {
	at := slices.IndexFunc(m.files, func(f mergedFile) bool { return f.firstShard() > 0 })
	if at < 0 { // no file is an incomplete part of a plan
		if len(m.files) > 1 {
			m.header.Part = nil
		}
		return nil
	}
	first := &m.files[at]
	switch {
	case len(m.Minus) > 0:
		return stream.Usagef("{minus} subtracts from a whole, and %s is a part of a plan; merge all parts of the plan first", first.name)
	case m.Window > 0 || m.Decay > 0:
		return stream.Usagef("{window} and {decay} are for the files of days, and %s is a part of a plan; merge all parts of the plan first", first.name)
	}
	var shards []fileShards
	for i := range m.files {
		f := &m.files[i]
		if err := checkSamePlan(first, f); err != nil {
			return err
		}
		for _, r := range f.part.Shards {
			shards = append(shards, fileShards{r, f})
		}
	}
	together, err := joinShards(shards)
	if err != nil {
		return err
	}
	whole := *first.part
	whole.Shards = together
	m.header.Part = &whole
	if whole.Complete() || m.Partial {
		return nil
	}
	return m.errMissingShards(&whole, first)
}

func checkSamePlan(first, f *mergedFile) error {
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

// fileShards is a range of shards, and the file that contains them.
type fileShards struct {
	stream.ShardRange
	file *mergedFile
}

func joinShards(shards []fileShards) ([]stream.ShardRange, error) {
	slices.SortStableFunc(shards, func(a, b fileShards) int { return cmp.Compare(a.From, b.From) })
	var united []stream.ShardRange
	for i, s := range shards {
		switch n := len(united); {
		case n > 0 && s.From <= united[n-1].To: // no earlier range ends after shards[i-1]
			both := stream.ShardRange{From: s.From, To: min(s.To, shards[i-1].To)}
			return nil, stream.Usagef("%s and %s both hold shard %v: give one of them", shards[i-1].file.name, s.file.name, both)
		case n > 0 && united[n-1].To+1 == s.From:
			united[n-1].To = s.To
		default:
			united = append(united, s.ShardRange)
		}
	}
	return united, nil
}

// errMissingShards returns an error that lists the missing shards and gives the command that scans them. It is a
// DataError, not a UsageError: the same request succeeds once these shards are scanned.
func (m *merger) errMissingShards(whole *stream.Part, first *mergedFile) error {
	missing := whole.Missing()
	folder := parentFolder(first.name)
	command := stream.Textf("{plan} JOB.plan.json {shard} %d/%d", missing[0].From, whole.Of)
	switch {
	case whole.Round != "":
		command = stream.Textf("%v {profile} PROFILE.ufs", command)
	case m.kind == statistics.KindProfile:
		command = stream.Textf("%v {profile-only}", command)
		if rows := m.header.Options[request.OptionSampleRows]; rows != "" {
			command = stream.Textf("%v {sample-rows} %s", command, rows)
		}
	}
	e := stream.Dataf(folder, "%d of %d shards of the plan %s are there, and %s %s missing", whole.Count(), whole.Of, whole.Plan, stream.ShardList(missing), wording.IsOrAre(missing))
	e.Remedy = stream.Textf("make each that is missing by ufs-stream scan %v {o} %s; or add up those that are there, for another merge, with {partial}", command, shell.Quote(folder))
	return e
}

// parentFolder returns the folder of a file or object, with a trailing slash, for messages.
func parentFolder(name string) string {
	if !place.IsURL(name) {
		return filepath.Dir(name) + string(filepath.Separator)
	}
	return place.ParentFolder(name)
}

func (m *merger) checkPlanCoverage() error {
	p := m.header.Part
	if p == nil || p.Whole == nil || !p.Complete() || len(m.files) == 1 {
		return nil
	}
	var rows, coveredRows int64
	for _, in := range m.coverage.Files {
		rows += in.Rows
	}
	for _, r := range m.coverage.Stretches {
		coveredRows += r.To - r.From
	}
	if want := p.Whole; rows != want.Rows || coveredRows != want.Rows || len(m.coverage.Files) > want.Files {
		return &stream.DataError{
			Path: parentFolder(m.files[0].name), RowGroup: -1, Row: -1,
			Err: stream.Errorf("all %d shards are there, but they cover %s of %s rows of %d files, and the plan has %s rows of %d files",
				p.Of, wording.WithCommas(coveredRows), wording.WithCommas(rows), len(m.coverage.Files), wording.WithCommas(want.Rows), want.Files),
			Remedy: stream.Textf("make the plan again, and scan all shards by it"),
		}
	}
	return nil
}
