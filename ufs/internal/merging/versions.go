package merging

import (
	"cmp"
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
)

// checkVersions checks files with changes of a table, if there are any: they must continue each other, from the version
// of the other files on, so that the sum has every version once. It sets the version of the sum.
func checkVersions(m *merger) error {
	var changes []*mergedFile
	var last *mergedFile // the file that has reached the highest version so far
	var losses *mergedFile
	for i := range m.files {
		switch f := &m.files[i]; {
		case f.since == nil:
			last = f
		case f.losses != nil:
			losses = f
			fallthrough
		default:
			changes = append(changes, f)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	for i := range m.files {
		if err := checkSameTable(changes[0], &m.files[i], last); err != nil {
			return err
		}
	}
	changes = orderChanges(changes, last)
	switch {
	case losses != nil && last == nil:
		return stream.Usagef("%s has rows to subtract, which %s has lost since version %d: merge it with the statistics of version %d, which have these rows", losses.name, losses.table.Path, *losses.since, *changes[0].since)
	case losses != nil && (m.Window > 0 || m.Decay > 0):
		return stream.Usagef("{window} and {decay} do not go with %s, which has rows to subtract: the rows of days that are left out, or weigh less, cannot be told from the others", losses.name)
	}
	m.header.Since, m.header.Losses = nil, nil
	if last == nil {
		m.header.Since, last = changes[0].since, changes[0]
	}
	for _, f := range changes {
		from, reached := *f.since, last.table.Version
		switch isSame := last.since != nil && *last.since == from && reached == f.table.Version; {
		case isSame || from == reached: // another shard of the same changes, or the next
		case f.table.Format != deltaFormat:
			return stream.Usagef("%s reaches version %d of %s, and %s has the changes from version %d to %d: changes are added to the version since which they are, once; leave out one of the files, or plan the changes {since} %[2]d",
				last.name, reached, f.table.Path, f.name, from, f.table.Version)
		case from < reached:
			return stream.Usagef("%s reaches version %d of %s, and %s has the changes from version %d to %d: changes up to version %[2]d would be added twice; leave out one of the files, or scan {since} %[2]d",
				last.name, reached, f.table.Path, f.name, from, f.table.Version)
		case from > reached:
			return stream.Usagef("%s reaches version %d of %s, and %s begins with the changes since version %d: the changes between are missing; scan {since} %[2]d {version} %[5]d, and merge that too",
				last.name, reached, f.table.Path, f.name, from)
		}
		last = f
	}
	table := *last.table
	m.header.Table = &table
	return nil
}

// deltaFormat is the format of tables whose versions are consecutive numbers.
const deltaFormat = "delta"

// orderChanges orders changes so that each continues the one before it, and the first one base, as far as possible.
// Without a base it begins with changes that continue no others. Changes that continue nothing come last.
func orderChanges(changes []*mergedFile, base *mergedFile) []*mergedFile {
	slices.SortStableFunc(changes, func(a, b *mergedFile) int {
		switch order := cmp.Compare(*a.since, *b.since); {
		case order != 0 || a.table.Version == b.table.Version:
			return order
		case a.table.Version == *a.since: // no change
			return -1
		case b.table.Version == *b.since:
			return 1
		}
		return cmp.Compare(a.table.Version, b.table.Version)
	})
	following, isReached := make(map[int64][]*mergedFile), make(map[int64]bool)
	for _, c := range changes {
		following[*c.since] = append(following[*c.since], c)
		isReached[c.table.Version] = isReached[c.table.Version] || c.table.Version != *c.since
	}
	var at int64
	if base != nil {
		at = base.table.Version
	} else {
		first := slices.IndexFunc(changes, func(c *mergedFile) bool { return !isReached[*c.since] })
		at = *changes[max(first, 0)].since
	}
	var ordered []*mergedFile
	for next := following[at]; len(next) > 0; next = following[at] {
		delete(following, at)
		ordered, at = append(ordered, next...), next[len(next)-1].table.Version
	}
	for _, c := range changes {
		if following[*c.since] != nil {
			ordered = append(ordered, c)
		}
	}
	return ordered
}

func checkSameTable(change, f, base *mergedFile) error {
	switch {
	case f.table == nil:
		return stream.Usagef("%s has the changes of %s since version %d, and %s is of no version of a table; merge it with the statistics of that version", change.name, change.table.Path, *change.since, f.name)
	case !f.table.IsSame(change.table):
		return stream.Usagef("%s has changes of the table %s, and %s is of another, %s; merge files of one table", change.name, change.table.Path, f.name, f.table.Path)
	case f.table.Schema != change.table.Schema && (f.table.Format == deltaFormat || f.table.Schema != "" && change.table.Schema != ""): // Iceberg has none in files of earlier builds
		return stream.Usagef("%s and %s are of the table %s with different columns, which were renamed, added, dropped or given another type in between; scan the whole table", change.name, f.name, f.table.Path)
	case f.since == nil && f.table.Version != base.table.Version:
		return stream.Usagef("%s is of version %d of %s and %s of version %d: they have rows in common; merge one of them with the changes", f.name, f.table.Version, f.table.Path, base.name, base.table.Version)
	}
	return nil
}

func addChangedCoverage(m *merger, i int) {
	f := &m.files[i]
	if m.coverage.Version = 0; f.since != nil { // a table may lose a file and get it back
		m.coverage.Version = f.table.Version
	}
	m.subtracted += f.subtracted
	if f.losses != nil {
		m.lossCoverage.Version = f.table.Version
		m.lossCoverage.AddRanges(i, f.losses.Inputs, f.losses.Ranges)
		f.losses = &chunkio.Losses{}
	}
}

// settleChanges checks that the files with changes have all of them, because the sum will be of their version, and takes
// files that were lost from the inputs.
func settleChanges(m *merger) error {
	for _, c := range []*statistics.Coverage{&m.coverage, &m.lossCoverage} {
		var rows, covered int64
		for _, in := range c.Files {
			rows += in.Rows
		}
		for _, s := range c.Stretches {
			covered += s.To - s.From
		}
		if covered < rows {
			return stream.Usagef("cannot merge changes of %s: the files have %s of %s rows; merge all shards of the table and of its changes at once", m.header.Table.Path, wording.WithCommas(covered), wording.WithCommas(rows))
		}
		if c == &m.lossCoverage {
			m.subtracted += rows
		}
	}
	if m.lossCoverage.Files == nil {
		return nil
	}
	var rows int64
	m.keptInputs, rows = m.coverage.FilesWithout(&m.lossCoverage) // files that lost some rows stay inputs
	m.keptRanges = []stream.Range{{From: 0, To: rows}}
	return nil
}

func subtractLosses(ctx context.Context, m *merger, e *statistics.Bundle) error {
	if m.lossCoverage.Files == nil {
		return nil
	}
	files := m.minus
	if len(files) == 0 {
		files = slices.DeleteFunc(slices.Clone(m.files), func(f mergedFile) bool { return f.losses == nil })
	}
	t, err := newSumTree(m, files, statistics.MergedBytes(e, nil, m.request.Limits.Threads))
	if err != nil {
		return err
	}
	defer t.close()
	t.readsLosses = true
	lost, err := t.sumAll(ctx)
	if err != nil {
		return err
	}
	squares := squaresIn(e.Profile)
	dropped, err := statistics.SubtractStates(e, lost)
	switch {
	case err != nil && len(m.minus) > 0:
		return stream.Usagef("cannot subtract %s, though its inputs are among the others': %w; scan the remaining rows", m.minus[0].name, err)
	case err != nil:
		return stream.Usagef("cannot subtract the rows that %s has lost: %w; scan the statistics to merge with the changes by the same options, or scan the whole table", m.header.Table.Path, err)
	}
	if len(m.minus) > 0 {
		warnOfMinus(m, e, squares)
	}
	if slices.Contains(dropped, statistics.SampleSection) {
		what, whole := stream.PlainText("rows were subtracted"), "remaining rows"
		if m.header.Table != nil {
			what, whole = stream.Textf("rows are subtracted that %s has lost", m.header.Table.Path), "whole table"
		}
		m.warnings.add(stream.Textf("%v, which a sample of rows does not allow, so there is none, and without {method} method %s selects: scan the %s for it", what, methods.Fallback, whole))
	}
	return nil
}
