package hygiene

import (
	"math"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A sentinel is a number that represents a missing value, such as -999. It is a repeated value at an end of a column's
// range, far from all other values. It is recognized by the two extreme values at each end and their counts. Only the
// first rows and a sample of the other rows are used: with all rows of E-MNIST this needed a fifth of the time of the
// pass.

const (
	// Sentinels are searched in the first firstEndRows rows. Of the other rows, a hash selects one of 256 runs of
	// endRunRows consecutive rows. Sampling single rows, each in its own cache line, was as slow as using all rows.
	firstEndRows = 1 << 14
	endRunRows   = 128
	// maxEndColumns is the largest number of columns that are examined.
	maxEndColumns = 1 << 14
	// The distance of a sentinel from the other values must exceed sentinelGap times the range of these values. For a
	// number that is hardly a measurement (see isFill), a distance of fillGap times this range is enough.
	sentinelGap = 5
	fillGap     = 1
	// minInner is the least number of values between the two extreme values. With fewer values a column may contain
	// codes instead of measurements with a sentinel.
	minInner = 4
)

// columnEnds holds the extreme values of a column, of which sampled values were seen.
type columnEnds struct {
	seen      int64
	low, high extremeValue // high holds negated values
}

// extremeValue holds the lowest value of a column and the next higher value, each with the number of rows that have it.
type extremeValue struct {
	value, next           float64
	valueTimes, nextTimes int64
}

func (e *extremeValue) addValue(x float64, times int64) {
	switch {
	case times == 0:
	case e.valueTimes == 0:
		e.value, e.valueTimes = x, times
	case x == e.value:
		e.valueTimes += times
	case x < e.value:
		e.next, e.nextTimes, e.value, e.valueTimes = e.value, e.valueTimes, x, times
	case e.nextTimes == 0 || x < e.next:
		e.next, e.nextTimes = x, times
	case x == e.next:
		e.nextTimes += times
	}
}

func (e *extremeValue) mergeEnd(o extremeValue) {
	e.addValue(o.value, o.valueTimes)
	e.addValue(o.next, o.nextTimes)
}

func (e *columnEnds) addValue(x float64) {
	if x-x != 0 {
		return
	}
	e.seen++
	if e.low.nextTimes == 0 || x <= e.low.next {
		e.low.addValue(x, 1)
	}
	if e.high.nextTimes == 0 || -x <= e.high.next {
		e.high.addValue(-x, 1)
	}
}

func newEnds(l *room.Layout, columnCount int) []columnEnds {
	return room.Slice[columnEnds](l, min(columnCount, maxEndColumns))
}

func (f *Facts) addChunkToEnds(c *stream.Chunk) {
	if f.ends == nil {
		f.ends = newEnds(nil, len(f.columns))
	}
	f.sampledRows = f.sampledRows[:0]
	for i := range c.Rows {
		if p := c.Position(i); p < firstEndRows || splitmix.Mix(uint64(p/endRunRows))%256 == 0 {
			f.sampledRows = append(f.sampledRows, i)
		}
	}
	for j := range f.ends {
		e, col := &f.ends[j], c.Col(j)
		for _, i := range f.sampledRows {
			e.addValue(col[i])
		}
	}
}

func (f *Facts) mergeEnds(o *Facts) {
	if f.ends == nil && o.ends != nil {
		f.ends = make([]columnEnds, len(o.ends))
	}
	for j := range o.ends {
		e := &f.ends[j]
		e.seen += o.ends[j].seen
		e.low.mergeEnd(o.ends[j].low)
		e.high.mergeEnd(o.ends[j].high)
	}
}

// Sentinel is a number that most likely represents a missing value in a column.
type Sentinel struct {
	Column int
	Value  float64
	Share  float64 // share of the sampled values that equal it
}

// FindSentinels lists the sentinels of the wanted columns. If wanted is nil, all columns are examined.
func (f *Facts) FindSentinels(wanted []bool) (list []Sentinel) {
	if f == nil {
		return nil
	}
	for j := range f.ends {
		if wanted != nil && !wanted[j] {
			continue
		}
		e := &f.ends[j]
		low, high := e.areSentinels()
		if low {
			list = append(list, Sentinel{j, e.low.value, float64(e.low.valueTimes) / float64(e.seen)})
		}
		if high {
			list = append(list, Sentinel{j, -e.high.value, float64(e.high.valueTimes) / float64(e.seen)})
		}
	}
	return list
}

func (e *columnEnds) areSentinels() (low, high bool) {
	if e.low.nextTimes == 0 || e.seen-e.low.valueTimes-e.high.valueTimes < minInner {
		return false, false
	}
	// Both ends may have a sentinel. So the distance of each end is first compared with the range of the values between
	// the ends. If only one end is far, its distance is then compared with the range of all other values.
	inner := -e.high.next - e.low.next
	low, high = e.low.isFar(inner), e.high.isFar(inner)
	if low != high {
		low, high = low && e.low.isFar(-e.high.value-e.low.next), high && e.high.isFar(-e.high.next-e.low.value)
	}
	between := e.seen - e.low.valueTimes - e.high.valueTimes - e.low.nextTimes
	if -e.high.next != e.low.next {
		between -= e.high.nextTimes
	}
	return low && between > 0, high && between > 0
}

// isFar reports whether the extreme value occurs repeatedly, at a distance from the next value that is large compared
// with the range of the other values. This range is the parameter others.
func (e *extremeValue) isFar(others float64) bool {
	factor := float64(sentinelGap)
	if isFill(e.value) {
		factor = fillGap
	}
	return e.valueTimes > 1 && e.value != 0 && others > 0 && e.next-e.value > factor*others
}

// isFill reports whether a number has only the digit 9 or is the limit of an integer type, and so hardly a measurement.
func isFill(x float64) bool {
	x = math.Abs(x)
	switch x {
	case math.MaxInt16, math.MaxInt16 + 1, math.MaxUint16, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32:
		return true
	}
	digits := strconv.FormatFloat(x, 'f', -1, 64)
	return len(digits) > 1 && strings.Trim(digits, "9.") == ""
}

func (e *columnEnds) encodeOrDecode(v *words.Visitor) {
	v.Expect(9)
	words.Count(v, "values at ends", &e.seen, words.MostRows)
	for _, to := range []*extremeValue{&e.low, &e.high} {
		words.Count(v, "times", &to.valueTimes, words.MostRows)
		words.Count(v, "times", &to.nextTimes, words.MostRows)
		v.FloatFields(&to.value, &to.next)
		one, two := to.valueTimes > 0 && to.value-to.value == 0, to.nextTimes > 0 && to.next > to.value && to.next-to.next == 0
		if to.valueTimes+to.nextTimes > e.seen || !one || !two && (to.nextTimes != 0 || to.next != 0) {
			v.Fail("ends that no values can have")
		}
	}
}

// unitSet is a set of time units: the units in which all values of a column are times in the years 1990 to 2049.
type unitSet uint8

const (
	noUnits  unitSet = 0
	allUnits unitSet = 1<<5 - 1
)

// timeUnits lists units of time counted from 1970, and dates written as 20260131, with their range from 1990 to 2049.
var timeUnits = [...]struct {
	name     string
	from, to float64
}{
	{"seconds since 1970", 631152000, 2524608000},
	{"milliseconds since 1970", 631152000e3, 2524608000e3},
	{"microseconds since 1970", 631152000e6, 2524608000e6},
	{"nanoseconds since 1970", 631152000e9, 2524608000e9},
	{"dates as YYYYMMDD", 19900101, 20500101},
}

func (c unitSet) intersectUnits(o unitSet) unitSet { return c & o }

func (c unitSet) unitName() string {
	for i := range timeUnits {
		if c == 1<<i {
			return timeUnits[i].name
		}
	}
	return ""
}

func possibleUnits(values []float64, candidates unitSet) unitSet {
	for _, x := range values {
		if x != x {
			continue
		}
		if !isWhole(x) {
			return noUnits
		}
		for i, u := range timeUnits {
			if candidates&(1<<i) != 0 && !(x >= u.from && x < u.to) {
				candidates &^= 1 << i
			}
		}
		if candidates&(1<<4) != 0 {
			if day, month := int(x)%100, int(x)/100%100; day < 1 || day > 31 || month < 1 || month > 12 {
				candidates &^= 1 << 4
			}
		}
		if candidates == noUnits {
			break
		}
	}
	return candidates
}
