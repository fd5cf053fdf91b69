package hygiene

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// maxClasses is the largest number of classes with sums of their own, and maxCells the largest number of such sums
	// over all columns. If a label needs more, only the correlation of its values with the columns is computed.
	maxClasses = 100
	maxCells   = 1 << 15
)

// label holds sums that relate the columns to a label. If there are few classes, every column has sums by class. These
// give η², the share of the column's variance that is due to differences between the classes, and show whether
// thresholds separate the classes. In any case there are the sums for a correlation. If the label is a text, codes
// represent its values (stream.Chunk.TargetCodes), and the texts are not stored. If there are too many classes, only
// the correlation with the codes is computed. The square of this correlation is at most η². So no column is suspected
// wrongly, but a column that determines the classes may not be found.
type label struct {
	threads        int
	codes          bool          // the values of the label are codes
	values         []float64     // values of the classes; nil if there are too many classes
	classes        [][]classSums // by class, then by column; nil if there are too many classes
	tooManyClasses bool          // there are too many classes
	pairs          []labelSums   // by column

	rows []labelledRow // sampled rows of the current chunk
}

// labelledRow is a sampled row: its index in the chunk, its class and weight, and its label y.
type labelledRow struct {
	row, class int
	weight, y  float64
}

const (
	// All rows at the first firstLabelled positions are used. Of the rows at later positions a hash selects one in
	// labelSampling, and gives it the weight labelSampling. So the selected rows do not depend on chunks and shards.
	// rowsPerLine rows, whose values share a cache line, are selected together. For 70,000×784 pixels the sampled rows
	// needed 0.03 s and all rows 0.26 s, in addition to 0.36 s for reading and profiling.
	firstLabelled = 2048
	labelSampling = 64
	rowsPerLine   = 8
)

// classSums holds sums over the observed rows of one class for one column.
type classSums struct {
	n                   int64
	weight, sum, lo, hi float64 // sum is Σw·(x − px), px being the pilot in the column's labelSums; lo and hi: extreme x
}

// labelSums holds sums over the rows that have both a value x of a column and a label y. The pilots px and py are
// subtracted from x and y, which reduces rounding errors.
type labelSums struct {
	n                                     int64
	px, py, weight, sx, sy, sxx, syy, sxy float64 // sx is Σw·(x − px), sxy is Σw·(x − px)(y − py)
}

func newLabel(l *room.Layout, d, threads int) *label {
	return &label{threads: threads, pairs: room.Slice[labelSums](l, d)}
}

func (l *label) clone() *label {
	o := *l
	o.values, o.pairs, o.rows = slices.Clone(l.values), slices.Clone(l.pairs), nil
	o.classes = make([][]classSums, len(l.classes))
	for k := range l.classes {
		o.classes[k] = slices.Clone(l.classes[k])
	}
	return &o
}

func (l *label) selectColumns(columns []int) *label {
	o := &label{threads: l.threads, codes: l.codes, values: slices.Clone(l.values), tooManyClasses: l.tooManyClasses}
	for _, j := range columns {
		o.pairs = append(o.pairs, l.pairs[j])
	}
	for _, cells := range l.classes {
		var some []classSums
		for _, j := range columns {
			some = append(some, cells[j])
		}
		o.classes = append(o.classes, some)
	}
	return o
}

func (l *label) classNumber(labelValue float64) int {
	if l.tooManyClasses {
		return -1
	}
	if at := slices.Index(l.values, labelValue); at >= 0 {
		return at
	}
	d := len(l.pairs)
	if n := len(l.values) + 1; n > maxClasses || n*d > maxCells {
		l.tooManyClasses, l.values, l.classes = true, nil, nil
		return -1
	}
	l.values, l.classes = append(l.values, labelValue), append(l.classes, make([]classSums, d))
	return len(l.values) - 1
}

func (l *label) addChunk(c *stream.Chunk) {
	if c.Target == nil {
		return
	}
	l.codes = c.TargetCodes
	l.rows = l.rows[:0]
	for i, y := range c.Target {
		one := labelledRow{row: i, weight: 1, y: y}
		if c.Position(i) >= firstLabelled {
			one.weight = labelSampling
		}
		if y-y == 0 && (one.weight == 1 || splitmix.Mix(uint64(c.Position(i)/rowsPerLine))%labelSampling == 0) {
			one.class = l.classNumber(y)
			l.rows = append(l.rows, one)
		}
	}
	const run = 16
	kernel.Each(l.threads, (c.Cols+run-1)/run, func(t int) {
		for j := t * run; j < min(c.Cols, (t+1)*run); j++ {
			l.addColumn(j, c.Col(j))
		}
	})
}

func (l *label) addColumn(j int, values []float64) {
	p := l.pairs[j] // a local copy stays in registers during the loop
	for i := range l.rows {
		r := &l.rows[i]
		x := values[r.row]
		if x != x {
			continue
		}
		if p.n == 0 {
			p.px, p.py = x, r.y
		}
		x0, y0, w := x-p.px, r.y-p.py, r.weight
		p.n++
		p.weight += w
		p.sy += w * y0
		p.syy += w * y0 * y0
		if x0 != 0 {
			p.sx += w * x0
			p.sxx += w * x0 * x0
			p.sxy += w * x0 * y0
		}
		if l.tooManyClasses {
			continue
		}
		e := &l.classes[r.class][j]
		if e.n == 0 {
			e.lo, e.hi = x, x
		}
		e.n++
		e.weight += w
		e.sum += w * x0
		if x < e.lo {
			e.lo = x
		} else if x > e.hi {
			e.hi = x
		}
	}
	l.pairs[j] = p
}

func (l *label) mergeLabel(o *label) {
	shift := make([]float64, len(l.pairs)) // difference between the pilots of o and of l
	for j := range l.pairs {
		shift[j] = l.pairs[j].mergePair(&o.pairs[j])
	}
	if o.tooManyClasses {
		l.tooManyClasses, l.values, l.classes = true, nil, nil
	}
	number := convert.Each(o.values, l.classNumber)
	if l.tooManyClasses {
		return
	}
	for k, cells := range o.classes {
		for j := range cells {
			a, b := &l.classes[number[k]][j], cells[j]
			if b.n == 0 {
				continue
			}
			if a.n == 0 {
				a.lo, a.hi = b.lo, b.hi
			}
			a.n += b.n
			a.weight += b.weight
			a.sum += b.sum + b.weight*shift[j]
			a.lo, a.hi = min(a.lo, b.lo), max(a.hi, b.hi)
		}
	}
}

// mergePair adds the sums of o to p, and returns the pilot of x in o minus the pilot of x in p.
func (p *labelSums) mergePair(o *labelSums) float64 {
	if o.n == 0 {
		return 0
	}
	if p.n == 0 {
		p.px, p.py = o.px, o.py
	}
	n, a, b := o.weight, o.px-p.px, o.py-p.py
	p.n += o.n
	p.weight += n
	p.sxx += o.sxx + 2*a*o.sx + n*a*a
	p.syy += o.syy + 2*b*o.sy + n*b*b
	p.sxy += o.sxy + a*o.sy + b*o.sx + n*a*b
	p.sx += o.sx + n*a
	p.sy += o.sy + n*b
	return a
}

const (
	// minLabelled is the least number of rows for which the relation of a column to the label is examined, and
	// minOfClass the least number of rows of every class.
	minLabelled = 50
	minOfClass  = 5
	// leakShare is the share of a column's variance that the classes, or the label itself, must explain for the column
	// to be a leak.
	leakShare = 0.95
)

func (l *label) describeLeak(j int) string {
	p := &l.pairs[j]
	n := p.weight
	if p.n < minLabelled {
		return ""
	}
	total := p.sxx - p.sx*p.sx/n
	if !(total > 0x1p-40*p.sxx) {
		return ""
	}
	if l.tooManyClasses {
		if y := p.syy - p.sy*p.sy/n; y > 0x1p-40*p.syy {
			xy := p.sxy - p.sx*p.sy/n
			r := xy / math.Sqrt(total) / math.Sqrt(y)
			switch {
			case r*r < leakShare:
			case l.codes:
				return "at least " + formatPercent(r*r) + " of its variance is between the classes"
			default:
				return "correlation " + strconv.FormatFloat(r, 'f', 3, 64)
			}
		}
		return ""
	}
	var cells []classSums
	var between float64
	least := p.n
	for _, class := range l.classes {
		if e := class[j]; e.n > 0 {
			cells = append(cells, e)
			least = min(least, e.n)
			off := e.sum/e.weight - p.sx/n
			between += e.weight * off * off
		}
	}
	classes := float64(len(cells))
	if len(cells) < 2 || float64(p.n) < minOfClass*classes {
		return ""
	}
	if least >= minOfClass && haveDisjointRanges(cells) {
		return "thresholds separate its classes"
	}
	// The share is η² minus its expectation by chance, which is Kelley's ε².
	if share := 1 - (1-between/total)*float64(p.n-1)/(float64(p.n)-classes); share >= leakShare {
		return formatPercent(share) + " of its variance is between the classes"
	}
	return ""
}

func formatPercent(share float64) string {
	return strconv.FormatFloat(100*min(share, 1), 'f', 1, 64) + " %"
}

func haveDisjointRanges(classes []classSums) bool {
	slices.SortFunc(classes, func(a, b classSums) int { return cmp.Compare(a.lo, b.lo) })
	for k := 1; k < len(classes); k++ {
		if classes[k].lo <= classes[k-1].hi {
			return false
		}
	}
	return true
}
