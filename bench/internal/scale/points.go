package scale

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Names in place of a method, for points at which another program runs: bareread, decode or DuckDB.
const (
	bareReading = "read"
	decoding    = "decode"
	duckDBSum   = "duckdb"
)

type size struct {
	rows    int64
	columns int
}

func (s size) String() string {
	return fmt.Sprintf("%s rows × %s columns", humanize.Comma(s.rows), humanize.Comma(int64(s.columns)))
}

// point is a combination of method, data and number of threads to measure. Each turn runs one process for each point.
type point struct {
	data    string // empty for planted data, which the size describes
	size    size
	method  string // or bareReading, decoding, duckDBSum
	threads int
	older   bool // the program of --older runs the method
}

func (p point) runsSelect() bool {
	return p.method != bareReading && p.method != decoding && p.method != duckDBSum
}

// turnResult has the measurements of a point in one turn.
type turnResult struct {
	cost   workshop.Cost
	timing stream.Timing
	read   time.Duration // time of bareread in the same turn
}

type measuredPoint struct {
	point
	turns   []turnResult
	stopped bool // it is not measured in further turns
}

// spread has the median, the least and the largest value of a measurement over the turns of a point.
type spread struct{ median, low, high float64 }

func (m measuredPoint) computeSpread(value func(turnResult) float64) spread {
	x := convert.Each(m.turns, value)
	slices.Sort(x)
	n := len(x)
	return spread{(x[(n-1)/2] + x[n/2]) / 2, x[0], x[n-1]}
}

func (s spread) formatCell(value func(float64) string) string {
	return fmt.Sprintf("%s (%s–%s)", value(s.median), value(s.low), value(s.high))
}

func wallSeconds(t turnResult) float64 { return t.cost.Wall.Seconds() }
func peakMemory(t turnResult) float64  { return float64(t.cost.Peak) }

// multipleOfReadTime returns the wall time of t as a multiple of the time that bareread needed in the same turn, with
// as many threads. It returns +Inf if bareread was not measured.
func multipleOfReadTime(t turnResult) float64 { return t.cost.Wall.Seconds() / t.read.Seconds() }

func defaultThreadCounts() (counts []string) {
	cores := runtime.NumCPU()
	for n := 1; n < cores; n *= 2 {
		counts = append(counts, strconv.Itoa(n))
	}
	return append(counts, strconv.Itoa(cores))
}

// shortNumber returns a number for use in names. Round numbers are written as powers of ten: 1e6, but 9298.
func shortNumber(n int64) string {
	digits := strconv.FormatInt(n, 10)
	head := strings.TrimRight(digits, "0")
	if zeros := len(digits) - len(head); zeros >= 3 && len(head) == 1 {
		return head + "e" + strconv.Itoa(zeros)
	}
	return digits
}
