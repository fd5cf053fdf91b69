package storage

import (
	"errors"
	"io/fs"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/stream"
)

// CheckAgainstLog returns err, or else an error if the log or the plan that lists the file contradicts in or err.
func (e Entry) CheckAgainstLog(in Input, err error) error {
	switch {
	case e.Plan != "":
		return e.checkAgainstPlan(in, err)
	case !e.InLog || e.Version != "":
		return err // no log lists the file, or another opening has already checked it
	case errors.Is(err, store.ErrNotExist) || errors.Is(err, fs.ErrNotExist):
		gone := stream.Dataf(place.DisplayName(e.Path), "the log of its table says that this file is live, and it is not there: it was vacuumed, expired or deleted")
		gone.Remedy = stream.Textf("read a {version} whose files are all there, or restore the file; if {since} needs it, scan the whole table, without {since}")
		return gone
	case err == nil && in.Size() != e.Size:
		other := stream.Dataf(in.Name(), "the log of its table says that this file has %d bytes, and it has %d: it was rewritten", e.Size, in.Size())
		other.Remedy = stream.Textf("restore the file, or write the table again")
		return other
	}
	return err
}

// Entry is a file to read: its path or URL and, for an object in a store, the version in the listing.
type Entry struct {
	Path    string // local, or a URL
	Size    int64  // bytes; -1 if no listing contains the file
	Version string // ETag or generation
	InLog   bool   // a table's log reports the size, and that the file exists
	Plan    string // display name of the plan file with this entry; empty if there is no plan
	Deleted []byte // the rows that its table has deleted, in the format of remaining.ParseBitmap; nil if there are none
	// Constants are columns.Constants of the file, as JSON; nil if there are none.
	Constants []byte
	Columns   *columns.Schema // the table whose columns the file has; nil for a bare file
}

func (e Entry) checkAgainstPlan(in Input, err error) error {
	name := place.DisplayName(e.Path)
	switch {
	case errors.Is(err, store.ErrNotExist) || errors.Is(err, fs.ErrNotExist):
		return errDiffersFromPlan(name, "the plan %s has this file, and it is not there", e.Plan)
	case errors.Is(err, store.ErrChanged):
		return ErrChangedSincePlan(name, e.Plan)
	case err == nil && e.Size >= 0 && in.Size() != e.Size:
		return ErrChangedSincePlan(name, e.Plan)
	}
	return err
}

// ErrChangedSincePlan returns the error for a file that changed since its plan was made.
func ErrChangedSincePlan(path, plan string) error {
	return errDiffersFromPlan(path, "the file changed since the plan %s was made", plan)
}

func errDiffersFromPlan(path, format string, plan string) error {
	e := stream.Dataf(path, format, plan)
	e.Remedy = stream.Textf("make the plan again, and scan all shards by it")
	return e
}
