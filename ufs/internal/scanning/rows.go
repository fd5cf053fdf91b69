package scanning

import (
	"github.com/ufs-stream/ufs-stream/internal/rows/rowsample"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// settleKeptRows sets the number of rows that a scan keeps. It refuses options that do not allow a sample of rows, and
// a method that iterates over rows if no sample is requested.
func settleKeptRows(r *settled.Run, q ScanRequest) error {
	isOverRows := r.Bound.From.UsesRows()
	switch {
	case q.KeepRows < 0 || q.KeepRows > rowsample.MostRows:
		return stream.Usagef("{sample-rows} %d: want a number of rows up to %d", q.KeepRows, rowsample.MostRows)
	case q.KeepRows == 0 && !isOverRows:
		return nil
	case q.KeepRows == 0:
		return stream.Usagef("scan: method %s iterates over rows, which statistics cannot replace; keep a sample of them: scan INPUT… {profile-only} {sample-rows} %d {method} %[1]s, or use select INPUT… {method} %[1]s",
			r.Bound.Name, method.DefaultSample)
	case !q.ProfileOnly:
		return stream.Usagef("{sample-rows} goes with {profile-only}: rows are kept with a profile, before {missing} acts on them; scan twice if you want Gram statistics too")
	case isOverRows && r.Original.Choice.Options["sample"] != nil: // a plan may have the option, for select
		return stream.Usagef("{sample} sets how many rows select draws; a scan keeps {sample-rows} of them, from which select can draw fewer")
	case r.Columns.Weight != "":
		return stream.Usagef("{sample-rows} keeps rows for methods that take no {weight}; leave one of them out")
	case r.Columns.Missing == request.MissingDropRow && r.Columns.Sparse != "":
		return stream.Usagef("{sample-rows} keeps rows before any is dropped, and {missing} drop-row drops sparse ones as they are read; use {missing} error or zero")
	case r.Columns.Missing == request.MissingDropRow && r.Bound.From.UsesGraph():
		return stream.Usagef("{sample-rows} keeps rows before any is dropped, and anchors of method %s come from those that {missing} drop-row leaves; make two profiles, or use {missing} mean or zero", r.Bound.Name)
	}
	if isOverRows {
		r.Bound.Sample = 0 // the profile is of all rows
	}
	r.KeepRows, r.KeptRowsMissing = int(q.KeepRows), r.Columns.Missing
	return nil
}
