package ufs

import (
	"cmp"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// coverage collects the rows of input files that statistics files cover together. Every step except one sort is
// linear in the numbers of files and row ranges, so that 10,000 parts of 100,000 files need hardly any time.
type coverage struct {
	// If pathsDiffer is set, files with different paths are different files. That is right for parts of one plan,
	// which names each file once: a copy of a file under another path has rows of its own.
	pathsDiffer bool
	files       []stream.Input // in the order in which they first appear
	index       map[fileID]int // of files
	runs        []stretch
}

// fileID identifies a file wherever it is stored. Copies of one file that were read in the same run have different
// numbers. A stream whose digest is not known has no ID.
type fileID struct {
	path        string // empty if files are identified by their contents only
	fingerprint string
	copy        int
}

// stretch is a run of consecutive rows of one file. The statistics file number source covers them.
type stretch struct {
	file     int // index into coverage.files
	from, to int64
	source   int
}

// add records that statistics file number source covers the given row ranges, which are sorted. The rows of all
// inputs are numbered consecutively.
func (c *coverage) add(source int, inputs []stream.Input, ranges []stream.Range) {
	if c.index == nil {
		c.index = make(map[fileID]int)
	}
	copies := make(map[fileID]int)
	var start int64
	for _, in := range inputs {
		id := fileID{fingerprint: in.Fingerprint}
		if c.pathsDiffer {
			id.path = in.Path
		}
		id.copy = copies[id]
		copies[fileID{path: id.path, fingerprint: id.fingerprint}]++
		file, known := c.index[id]
		if !known {
			file = len(c.files)
			c.index[id], c.files = file, append(c.files, in)
		}
		end := start + in.Rows
		for len(ranges) > 0 && ranges[0].To <= start {
			ranges = ranges[1:]
		}
		for _, r := range ranges {
			from, to := max(r.From, start), min(r.To, end)
			if from >= to {
				break
			}
			c.runs = append(c.runs, stretch{file, from - start, to - start, source})
		}
		start = end
	}
}

// overlap is a pair of stretches that share rows.
type overlap struct{ first, second stretch } // ordered by the number of the statistics file

// firstOverlap returns the overlap that is found first if the statistics files are read in order; nil if there is
// no overlap.
func (c *coverage) firstOverlap() *overlap {
	slices.SortFunc(c.runs, func(a, b stretch) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.from, b.from), cmp.Compare(a.source, b.source))
	})
	var found *overlap
	longest := stretch{file: -1}
	for _, r := range c.runs {
		if r.file == longest.file && r.from < longest.to {
			o := &overlap{longest, r}
			if o.first.source > o.second.source {
				o.first, o.second = o.second, o.first
			}
			if found == nil || cmp.Or(cmp.Compare(o.second.source, found.second.source), cmp.Compare(o.first.source, found.first.source)) < 0 {
				found = o
			}
		}
		if r.file != longest.file || r.to > longest.to {
			longest = r
		}
	}
	return found
}

func (o *overlap) sharedRows(c *coverage) (from, to int64, path string) {
	return max(o.first.from, o.second.from), min(o.first.to, o.second.to) - 1, c.files[o.first.file].Path
}

func (c *coverage) coveredRanges() []stream.Range {
	starts := make([]int64, len(c.files))
	var rows int64
	for i, f := range c.files {
		starts[i] = rows
		rows += f.Rows
	}
	ranges := make([]stream.Range, len(c.runs))
	for i, r := range c.runs {
		ranges[i] = stream.Range{From: starts[r.file] + r.from, To: starts[r.file] + r.to}
	}
	return joinRanges(ranges)
}

// joinRanges sorts disjoint ranges and joins adjacent ranges.
func joinRanges(ranges []stream.Range) []stream.Range {
	slices.SortFunc(ranges, func(a, b stream.Range) int { return cmp.Compare(a.From, b.From) })
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
