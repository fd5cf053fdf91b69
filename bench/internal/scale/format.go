package scale

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
)

// writeConfig writes the head of a file in Go's benchmark format (golang.org/design/14313-benchmark-format). benchstat
// compares only results with equal keys. So only properties that must be equal are keys, and all others are remarks.
func writeConfig(w io.Writer, host workshop.Machine, version, command string) {
	fmt.Fprintf(w, "# %s\n# %s\n# machine: %s\n", command, version, host)
	fmt.Fprintf(w, "# Read is the yardstick: every column through arrow v15's own column readers (bench/_bareread),\n"+
		"# a process in the same turn. read-, accumulate- and solve-ns are busy times that overlap.\n")
	fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: %s\ncpu: %s\n", runtime.GOOS, runtime.GOARCH, "github.com/ufs-stream/ufs-stream/bench", host.CPU)
	fmt.Fprintf(w, "Unit rows/s better=higher\n")
}

// benchmarkName returns the name of the point in Go's benchmark format. The number after the last dash is GOMAXPROCS,
// which --threads sets.
func (p point) benchmarkName() string {
	var b strings.Builder
	switch p.method {
	case bareReading:
		b.WriteString("BenchmarkRead")
	case decoding:
		b.WriteString("BenchmarkDecode")
	case duckDBSum:
		b.WriteString("BenchmarkDuckDB")
	default:
		b.WriteString("BenchmarkSelect")
	}
	if p.data != "" {
		fmt.Fprintf(&b, "/data=%s", p.data)
	}
	if p.runsSelect() {
		fmt.Fprintf(&b, "/method=%s", p.method)
	}
	fmt.Fprintf(&b, "/rows=%s/cols=%s/threads=%d-%d", shortNumber(p.size.rows), shortNumber(int64(p.size.columns)), p.threads, p.threads)
	return b.String()
}

func writeTurn(w io.Writer, p point, t turnResult) {
	wall := t.cost.Wall
	fmt.Fprintf(w, "%s 1 %d ns/op %.6g rows/s %d peak-B %d cpu-ns/op", p.benchmarkName(),
		wall.Nanoseconds(), float64(p.size.rows)/wall.Seconds(), t.cost.Peak, t.cost.CPU.Nanoseconds())
	if p.method != bareReading && t.read > 0 { // 0 if bareread was given up
		fmt.Fprintf(w, " %.4g x-read", multipleOfReadTime(t))
	}
	if p.runsSelect() {
		fmt.Fprintf(w, " %.0f read-ns/op %.0f accumulate-ns/op %.0f solve-ns/op", 1e9*t.timing.Read, 1e9*t.timing.Accumulate, 1e9*t.timing.Solve)
	}
	fmt.Fprintln(w)
}
