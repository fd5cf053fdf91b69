package ufs

import (
	"cmp"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// coverage is what statistics files cover together: runs of rows of files. Every step is linear
// in the files and runs, but for one sort, so that 10,000 parts of 100,000 files take no time.
type coverage struct {
	// paths tells files apart by their paths too. That suits parts of one plan, where each
	// file is named once: a copy of it in another part is not the same rows.
	paths bool
	files []stream.Input // in the order in which they first appear
	at    map[fileID]int // of files
	runs  []stretch
}

// fileID tells files apart wherever they are kept. Copies of one file that were read
// in the same run count up; a stream whose digest is not known has no ID.
type fileID struct {
	path        string // empty where only the contents count
	fingerprint string
	copy        int
}

// stretch is some rows of a file, which the statistics file number source covers.
type stretch struct {
	file     int // of coverage.files
	from, to int64
	source   int
}

// add notes that the statistics file number source covers the ranges, which are in order, of the
// rows of inputs one after another.
func (c *coverage) add(source int, inputs []stream.Input, ranges []stream.Range) {
	if c.at == nil {
		c.at = make(map[fileID]int)
	}
	copies := make(map[fileID]int)
	var start int64
	for _, in := range inputs {
		id := fileID{fingerprint: in.Fingerprint}
		if c.paths {
			id.path = in.Path
		}
		id.copy = copies[id]
		copies[fileID{path: id.path, fingerprint: id.fingerprint}]++
		file, known := c.at[id]
		if !known {
			file = len(c.files)
			c.at[id], c.files = file, append(c.files, in)
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

// overlap is two runs that share rows.
type overlap struct{ first, second stretch } // by the number of the statistics file

// firstOverlap is the overlap that a reader of the statistics files one by one meets first; nil
// where there is none.
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

// rows are the rows that they share, the last one included, and the path of their file.
func (o *overlap) rows(c *coverage) (from, to int64, path string) {
	return max(o.first.from, o.second.from), min(o.first.to, o.second.to) - 1, c.files[o.first.file].Path
}

// covered numbers the rows over all files, and returns which are covered.
func (c *coverage) covered() []stream.Range {
	starts := make([]int64, len(c.files))
	var rows int64
	for i, f := range c.files {
		starts[i] = rows
		rows += f.Rows
	}
	covered := make([]stream.Range, len(c.runs))
	for i, r := range c.runs {
		covered[i] = stream.Range{From: starts[r.file] + r.from, To: starts[r.file] + r.to}
	}
	return unite(covered)
}

// unite sorts disjoint ranges and joins those that touch.
func unite(ranges []stream.Range) []stream.Range {
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
