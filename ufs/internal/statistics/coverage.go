package statistics

import (
	"cmp"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Coverage collects which rows of the input files a list of statistics files covers. Apart from one sort, the time is
// linear in the number of files and row ranges, so that 10,000 parts of 100,000 files need hardly any time.
type Coverage struct {
	// If PathsDiffer is set, files with different paths count as different files, even if their contents are equal.
	// That is right for parts of one plan: it names each file once, and a copy under another path is other data.
	PathsDiffer bool
	// Files that are added while Version differs count as different files, too.
	Version   int64
	Files     []stream.Input // in the order in which they first appear
	index     map[fileID]int // index into files
	Stretches []stretch
}

// fileID identifies a file, wherever it is stored. If one run read several copies of a file, the copies differ in the
// field copy.
type fileID struct {
	path        string // empty if files are identified by their contents only
	fingerprint string
	version     int64
	copy        int // number of the copy among equal files of a run
}

// stretch is a range of consecutive rows of one input file that one statistics file covers.
type stretch struct {
	file      int // index into coverage.files
	From, To  int64
	StatsFile int // number of the statistics file
}

// AddRanges records that statistics file number statsFile covers the given row ranges of inputs. The ranges are sorted,
// and their rows are numbered consecutively over all inputs.
func (c *Coverage) AddRanges(statsFile int, inputs []stream.Input, ranges []stream.Range) {
	if c.index == nil {
		c.index = make(map[fileID]int)
	}
	copies := make(map[fileID]int)
	var start int64
	for _, in := range inputs {
		id := fileID{fingerprint: in.Fingerprint, version: c.Version}
		if c.PathsDiffer {
			id.path = in.Path
		}
		id.copy = copies[id]
		copies[fileID{path: id.path, fingerprint: id.fingerprint, version: id.version}]++
		file, known := c.index[id]
		if !known {
			file = len(c.Files)
			c.index[id], c.Files = file, append(c.Files, in)
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
			c.Stretches = append(c.Stretches, stretch{file, from - start, to - start, statsFile})
		}
		start = end
	}
}

// Overlap is a pair of stretches that share rows.
type Overlap struct{ First, Second stretch } // first has the smaller number of its statistics file

// FirstOverlap returns the overlap that one would find first when reading the statistics files in order, or nil if
// there is no overlap.
func (c *Coverage) FirstOverlap() *Overlap {
	slices.SortFunc(c.Stretches, func(a, b stretch) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.From, b.From), cmp.Compare(a.StatsFile, b.StatsFile))
	})
	var found *Overlap
	longest := stretch{file: -1}
	for _, r := range c.Stretches {
		if r.file == longest.file && r.From < longest.To {
			o := &Overlap{longest, r}
			if o.First.StatsFile > o.Second.StatsFile {
				o.First, o.Second = o.Second, o.First
			}
			if found == nil || cmp.Or(cmp.Compare(o.Second.StatsFile, found.Second.StatsFile), cmp.Compare(o.First.StatsFile, found.First.StatsFile)) < 0 {
				found = o
			}
		}
		if r.file != longest.file || r.To > longest.To {
			longest = r
		}
	}
	return found
}

func (o *Overlap) SharedRows(c *Coverage) (from, to int64, path string) {
	return max(o.First.From, o.Second.From), min(o.First.To, o.Second.To) - 1, c.Files[o.First.file].Path
}

func (c *Coverage) CoveredRanges() []stream.Range {
	starts := make([]int64, len(c.Files))
	var rows int64
	for i, f := range c.Files {
		starts[i] = rows
		rows += f.Rows
	}
	ranges := convert.Each(c.Stretches, func(r stretch) stream.Range {
		return stream.Range{From: starts[r.file] + r.From, To: starts[r.file] + r.To}
	})
	return joinRanges(ranges)
}

// joinRanges sorts ranges, which must not overlap, and joins adjacent ranges.
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

// content identifies the rows of a file, wherever it lies.
type content struct {
	fingerprint string
	rows        int64
}

func contentOf(in stream.Input) content { return content{in.Fingerprint, in.Rows} }

// FilesWithout lists the files of c with rows, except as many of equal content as part has. rows is their number of rows.
func (c *Coverage) FilesWithout(part *Coverage) (files []stream.Input, rows int64) {
	gone := make(map[content]int)
	for _, in := range part.Files {
		gone[contentOf(in)]++
	}
	files = []stream.Input{}
	for _, in := range c.Files {
		if gone[contentOf(in)]--; gone[contentOf(in)] < 0 && in.Rows > 0 {
			files, rows = append(files, in), rows+in.Rows
		}
	}
	return files, rows
}

// Subtract takes the rows that part covers out of c. Files with equal contents have equal rows, wherever they lie. A file
// whose last row is taken out is no longer in c. FirstOverlap must have found nothing in either. If part covers a row
// that c does not, Subtract leaves c as it is, and returns such a row's file and the number of a statistics file that
// covers rows of it.
func (c *Coverage) Subtract(part *Coverage) (foreign *stream.Input, statsFile int) {
	left, lost := c.rangesByFile(), part.rangesByFile()
	isChanged, equals := make([]bool, len(c.Files)), make(map[content][]int)
	for i, in := range c.Files {
		equals[contentOf(in)] = append(equals[contentOf(in)], i)
	}
	for i, in := range part.Files {
		if in.Rows > 0 && len(lost[i]) == 0 {
			continue // it is known, but another shard covers it
		}
		at := slices.IndexFunc(equals[contentOf(in)], func(file int) bool {
			rest, areAmong := subtractRanges(left[file], lost[i])
			if areAmong {
				left[file], isChanged[file] = rest, true
			}
			return areAmong
		})
		if at < 0 && len(lost[i]) > 0 {
			first := slices.IndexFunc(part.Stretches, func(s stretch) bool { return s.file == i })
			return &part.Files[i], part.Stretches[first].StatsFile
		}
	}
	var rest Coverage
	for i, in := range c.Files {
		if isChanged[i] && len(left[i]) == 0 {
			continue
		}
		for _, r := range left[i] {
			rest.Stretches = append(rest.Stretches, stretch{file: len(rest.Files), From: r.From, To: r.To})
		}
		rest.Files = append(rest.Files, in)
	}
	c.Files, c.Stretches, c.index = rest.Files, rest.Stretches, nil
	return nil, 0
}

func (c *Coverage) rangesByFile() [][]stream.Range {
	ranges := make([][]stream.Range, len(c.Files))
	for _, s := range c.Stretches {
		ranges[s.file] = append(ranges[s.file], stream.Range{From: s.From, To: s.To})
	}
	for i := range ranges {
		ranges[i] = joinRanges(ranges[i])
	}
	return ranges
}

// subtractRanges takes lost out of ranges. Both are sorted, with gaps between the ranges.
func subtractRanges(ranges, lost []stream.Range) (rest []stream.Range, areAmong bool) {
	for _, r := range ranges {
		for len(lost) > 0 && r.From <= lost[0].From && lost[0].To <= r.To {
			if r.From < lost[0].From {
				rest = append(rest, stream.Range{From: r.From, To: lost[0].From})
			}
			r.From, lost = lost[0].To, lost[1:]
		}
		if r.From < r.To {
			rest = append(rest, r)
		}
	}
	return rest, len(lost) == 0
}
