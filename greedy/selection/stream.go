package selection

import (
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// StreamOptions are Options for rows that are read several times.
type StreamOptions struct {
	// Options refer to columns of the source: Keep, Forbid, Sets and Groups hold their numbers, and K is at most the
	// number of usable columns.
	Options
	Scale gram.Scale
	Fill  gram.Fill // replacement of missing entries, for a source under stream.MissingKeep
	// Profile describes all rows. If it is nil, one more pass computes it.
	Profile *gram.Profile
	Memory  int64         // largest number of bytes to hold, in addition to the source's chunks; 0 means 1 GiB
	Meter   *stream.Meter // counts all passes; nil counts nothing
	// Pass is called when each pass over the rows begins, with its number, counted from 1, and its purpose. The number
	// of passes is not known beforehand. Pass may be nil.
	Pass func(pass int, what string)
	// Checkpoint saves the results of passes over the rows, so that a later run of the same selection with the same
	// Memory and Threads does not repeat them; nil saves nothing.
	Checkpoint stream.Checkpoint
}
