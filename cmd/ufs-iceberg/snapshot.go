package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// snapshot is the snapshot of a table for which a plan is made.
type snapshot struct {
	*table.Snapshot
	schema *iceberg.Schema  // the schema that readers of this snapshot use
	scan   *table.Scan      // without a filter
	ages   map[string]int64 // sequence numbers of its files of equality deletes
	isPast bool             // the rows that the table has lost since this snapshot are planned
}

func chooseSnapshot(t *table.Table, name string, q request) (*snapshot, error) {
	const workers = 16 // number of manifests read at the same time; the reads wait for the store, not for a core
	options := []table.ScanOption{table.WithMaxConcurrency(workers)}
	ref, kind := q.branch, table.BranchRef
	switch {
	case q.tag != "":
		ref, kind = q.tag, table.TagRef
	case q.snapshot != 0:
		if t.SnapshotByID(q.snapshot) == nil {
			return nil, stream.Usagef("{snapshot} %d: %s has no such snapshot%s", q.snapshot, name, lastSnapshots(t))
		}
		options = append(options, table.WithSnapshotID(q.snapshot))
	case !time.Time(q.asOf).IsZero():
		at := time.Time(q.asOf).UnixMilli()
		if t.SnapshotAsOf(at, true) == nil {
			return nil, stream.Usagef("{as-of} %v: %s had no snapshot yet, or it has expired%s", &q.asOf, name, lastSnapshots(t))
		}
		options = append(options, table.WithSnapshotAsOf(at))
	}
	scan := t.Scan(options...)
	if ref != "" {
		if err := checkRef(t, name, ref, kind); err != nil {
			return nil, err
		}
		var err error
		if scan, err = scan.UseRef(ref); err != nil {
			return nil, err
		}
	}
	s, err := scan.ResolveSnapshot()
	if err != nil {
		return nil, asDataError(name, "its snapshots cannot be read", err)
	}
	if s == nil {
		return nil, stream.Dataf(name, "this Iceberg table has no snapshot: nothing was written to it yet")
	}
	schema, err := scan.Projection()
	if err != nil {
		return nil, asDataError(name, "the snapshot's schema is not known", err)
	}
	return &snapshot{Snapshot: s, schema: schema, scan: scan}, nil
}

func checkRef(t *table.Table, name, ref string, kind table.RefType) error {
	var known []string
	for n, r := range t.Metadata().Refs() {
		if r.SnapshotRefType == kind {
			if n == ref {
				return nil
			}
			known = append(known, n)
		}
	}
	slices.Sort(known)
	list := "none"
	if len(known) > 0 {
		list = strings.Join(known, ", ")
	}
	return stream.Usagef("%v %s: %s has no %s of this name%s (there are: %s)", stream.Option(kind), ref, name, kind, suggest.DidYouMean(ref, known), list)
}

func lastSnapshots(t *table.Table) string {
	const shown = 5
	all := slices.Clone(t.Metadata().Snapshots())
	slices.SortStableFunc(all, func(a, b table.Snapshot) int { return cmp.Compare(b.TimestampMs, a.TimestampMs) })
	var list []string
	for i, s := range all {
		if i == shown {
			list = append(list, "…")
			break
		}
		list = append(list, fmt.Sprintf("%d of %s", s.SnapshotID, timeText(s.TimestampMs)))
	}
	if len(list) == 0 {
		return "; it has none"
	}
	return "; it has " + strings.Join(list, ", ")
}

func timeText(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }
