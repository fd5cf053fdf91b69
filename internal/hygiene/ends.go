package hygiene

import (
	"math"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/words"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A sentinel is a number that stands for a missing value, as -999 does: one value at an end of a column that is there
// again and again, far from all others. It is told from the two values at each end and how often they are there, of the
// first rows and of some of the others: all rows of E-MNIST took a fifth of the pass.

const (
	// firstEnds rows are looked at all, and of the others one run of runEnds in 256, by a hash: rows by themselves, each
	// in a line of the cache of its own, took as long as all.
	firstEnds = 1 << 14
	runEnds   = 128
	// mostEnds columns are looked at. They take 72 bytes each.
	mostEnds  = 1 << 14
	endsBytes = 72
	// farOff is how many times as far as all others from each other a sentinel is from them, and farFill that of a
	// number that hardly is a measurement.
	farOff  = 5
	farFill = 1
	// leastInner are enough values between to tell a number among measurements from codes of a few values.
	leastInner = 4
)

// ends are the values at both ends of a column.
type ends struct {
	seen      int64
	low, high end // of high the negative values
}

// end is the lowest value and the one above it, each with how often it is there.
type end struct {
	value, next float64
	times, then int64
}

func (e *end) addValue(x float64, times int64) {
	switch {
	case times == 0:
	case e.times == 0:
		e.value, e.times = x, times
	case x == e.value:
		e.times += times
	case x < e.value:
		e.next, e.then, e.value, e.times = e.value, e.times, x, times
	case e.then == 0 || x < e.next:
		e.next, e.then = x, times
	case x == e.next:
		e.then += times
	}
}

func (e *end) mergeEnd(o end) {
	e.addValue(o.value, o.times)
	e.addValue(o.next, o.then)
}

func (e *ends) addValue(x float64) {
	if x-x != 0 {
		return
	}
	e.seen++
	if e.low.then == 0 || x <= e.low.next {
		e.low.addValue(x, 1)
	}
	if e.high.then == 0 || -x <= e.high.next {
		e.high.addValue(-x, 1)
	}
}

// addEnds looks at the rows of c that are looked at.
func (f *Facts) addEnds(c *stream.Chunk) {
	if f.ends == nil {
		f.ends = make([]ends, min(len(f.columns), mostEnds))
	}
	f.looked = f.looked[:0]
	for i := range c.Rows {
		if p := c.Position(i); p < firstEnds || splitmix.Mix(uint64(p/runEnds))%256 == 0 {
			f.looked = append(f.looked, i)
		}
	}
	for j := range f.ends {
		e, col := &f.ends[j], c.Col(j)
		for _, i := range f.looked {
			e.addValue(col[i])
		}
	}
}

// mergeEnds adds the ends of o.
func (f *Facts) mergeEnds(o *Facts) {
	if f.ends == nil && o.ends != nil {
		f.ends = make([]ends, len(o.ends))
	}
	for j := range o.ends {
		e := &f.ends[j]
		e.seen += o.ends[j].seen
		e.low.mergeEnd(o.ends[j].low)
		e.high.mergeEnd(o.ends[j].high)
	}
}

// Sentinel is a number that stands for a missing value in a column, most likely.
type Sentinel struct {
	Column int
	Value  float64
	Share  float64 // of the values that were looked at
}

// Sentinels lists the sentinels of the columns that are wanted, nil for all.
func (f *Facts) Sentinels(wanted []bool) (list []Sentinel) {
	if f == nil {
		return nil
	}
	for j := range f.ends {
		if wanted != nil && !wanted[j] {
			continue
		}
		e := &f.ends[j]
		low, high := e.findSentinels()
		if low {
			list = append(list, Sentinel{j, e.low.value, float64(e.low.times) / float64(e.seen)})
		}
		if high {
			list = append(list, Sentinel{j, -e.high.value, float64(e.high.times) / float64(e.seen)})
		}
	}
	return list
}

func (e *ends) findSentinels() (low, high bool) {
	if e.low.then == 0 || e.seen-e.low.times-e.high.times < leastInner {
		return false, false
	}
	// Both ends may have one, so that what lies between them is the measure first, then all but the one end.
	inner := -e.high.next - e.low.next
	low, high = e.low.isFar(inner), e.high.isFar(inner)
	if low != high {
		low, high = low && e.low.isFar(-e.high.value-e.low.next), high && e.high.isFar(-e.high.next-e.low.value)
	}
	between := e.seen - e.low.times - e.high.times - e.low.then
	if -e.high.next != e.low.next {
		between -= e.high.then
	}
	return low && between > 0, high && between > 0
}

// isFar reports whether the end is a number that is there again, so far from others on a range.
func (e *end) isFar(others float64) bool {
	far := float64(farOff)
	if isFill(e.value) {
		far = farFill
	}
	return e.times > 1 && e.value != 0 && others > 0 && e.next-e.value > far*others
}

// isFill reports whether a number is of nines alone or at the end of an integer type.
func isFill(x float64) bool {
	x = math.Abs(x)
	switch x {
	case math.MaxInt16, math.MaxInt16 + 1, math.MaxUint16, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32:
		return true
	}
	digits := strconv.FormatFloat(x, 'f', -1, 64)
	return len(digits) > 1 && strings.Trim(digits, "9.") == ""
}

// encodeTo writes ends of a column, after their flag.
func (e *ends) encodeTo(w *words.Writer) {
	w.Int(e.seen)
	for _, end := range []end{e.low, e.high} {
		w.Int(end.times)
		w.Int(end.then)
		w.Floats([]float64{end.value, end.next})
	}
}

const endsWords = 9

func decodeEnds(r *words.Reader) (e ends) {
	r.Expect(endsWords)
	e.seen = r.Count("values at ends", words.MostRows)
	for _, to := range []*end{&e.low, &e.high} {
		*to = end{times: r.Count("times", words.MostRows), then: r.Count("times", words.MostRows), value: r.Float(), next: r.Float()}
		one, two := to.times > 0 && to.value-to.value == 0, to.then > 0 && to.next > to.value && to.next-to.next == 0
		if to.times+to.then > e.seen || !one || !two && (to.then != 0 || to.next != 0) {
			r.Fail("ends that no values have")
		}
	}
	return e
}
