package ufs

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// gathered is what the passes over the input left, or what a statistics file holds.
type gathered struct {
	kind     string          // of a statistics file
	path     string          // of the statistics file, as people may see it; merge sets it
	digest   string          // of the statistics file: what a round is told by
	columns  []stream.Column // features, those that turn out constant included
	profile  *gram.Profile
	moments  *gram.Moments      // nil where only a profile was asked for
	graph    *anchor.Statistics // beside moments, for the graph methods
	sample   *anchor.Sampler    // beside a profile, to take anchors from
	spread   *gram.Histograms   // beside moments, of a scan; nil where a file has none
	leftOut  []stream.LeftOut   // columns that are no features
	decided  []stream.LeftOut   // those among them that a profile pass found useless
	table    *stream.Table      // that the inputs are of; nil for bare files
	part     *stream.Part       // the shards of a plan that this is of; nil without a plan
	inputs   []stream.Input     // all files, also those outside the rows covered; of a shard its own
	covered  []stream.Range     // rows of the inputs that the statistics cover
	options  map[string]string  // what shaped them, by option
	warnings []stream.Text
	wanted   []bool // of columns: those that take part; nil for all
	passes   int
	source   *chunkio.Dataset // settled, for further passes; nil from a statistics file
	plan     Budget
}

// part is a run of rows of one file that statistics cover.
type part struct {
	file     fileID
	from, to int64 // within the file
}

// fileID tells files apart wherever they are kept. Copies of one file that were read
// in the same run count up; a stream whose digest is not known has no ID.
type fileID struct {
	fingerprint string
	copy        int
}

// parts lists what e covers, file by file, and the inputs by ID.
func (e *gathered) parts() (parts []part, files map[fileID]stream.Input, order []fileID) {
	copies := make(map[string]int)
	files = make(map[fileID]stream.Input)
	var start int64
	for _, in := range e.inputs {
		id := fileID{in.Fingerprint, copies[in.Fingerprint]}
		copies[in.Fingerprint]++
		files[id] = in
		order = append(order, id)
		for _, r := range e.covered {
			from, to := max(r.From, start), min(r.To, start+in.Rows)
			if from < to {
				parts = append(parts, part{id, from - start, to - start})
			}
		}
		start += in.Rows
	}
	return parts, files, order
}

// join adds what o covers to what e covers and renumbers the rows over the files of
// both. Rows that both cover are an error.
func (e *gathered) join(o *gathered) error {
	own, files, order := e.parts()
	other, otherFiles, otherOrder := o.parts()
	for _, a := range own {
		for _, b := range other {
			if a.file == b.file && a.from < b.to && b.from < a.to {
				return stream.Usagef("both cover rows %d to %d of %s", max(a.from, b.from), min(a.to, b.to)-1, files[a.file].Path)
			}
		}
	}
	for _, id := range otherOrder {
		if _, known := files[id]; !known {
			files[id] = otherFiles[id]
			order = append(order, id)
		}
	}
	start := make(map[fileID]int64, len(order))
	e.inputs = nil
	var rows int64
	for _, id := range order {
		e.inputs = append(e.inputs, files[id])
		start[id] = rows
		rows += files[id].Rows
	}
	e.covered = nil
	for _, p := range append(own, other...) {
		e.covered = append(e.covered, stream.Range{From: start[p.file] + p.from, To: start[p.file] + p.to})
	}
	e.covered = unite(e.covered)
	return nil
}

// unite sorts disjoint ranges and joins those that touch.
func unite(ranges []stream.Range) []stream.Range {
	slices.SortFunc(ranges, func(a, b stream.Range) int { return int(min(max(a.From-b.From, -1), 1)) })
	var out []stream.Range
	for _, r := range ranges {
		if n := len(out); n > 0 && out[n-1].To == r.From {
			out[n-1].To = r.To
			continue
		}
		out = append(out, r)
	}
	return out
}

// coveredRows is the number of rows that the statistics cover.
func (e *gathered) coveredRows() (rows int64) {
	for _, r := range e.covered {
		rows += r.To - r.From
	}
	return rows
}
