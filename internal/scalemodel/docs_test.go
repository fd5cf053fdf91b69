package scalemodel

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dustin/go-humanize"
)

// page is where the model is shown.
const page = "../../docs/scale.md"

// TestPage: docs/scale.md shows the model's results. UFS_UPDATE_GOLDEN=1 writes it.
func TestPage(t *testing.T) {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatalf("reading the page: %v", err)
	}
	text := string(b)
	for name, block := range map[string]string{"rates": ratesTable(), "machines": machinesTables(), "price": priceTable(), "measured": measuredTable()} {
		begin, end := "<!-- "+name+": made by the model -->\n", "<!-- /"+name+" -->"
		before, rest, ok1 := strings.Cut(text, begin)
		old, after, ok2 := strings.Cut(rest, end)
		if !ok1 || !ok2 {
			t.Fatalf("%s has no block %s", page, name)
		}
		if old != block && os.Getenv("UFS_UPDATE_GOLDEN") == "" {
			t.Errorf("%s shows another table %s than the model makes; UFS_UPDATE_GOLDEN=1 go test ./internal/scalemodel -run Page\n%s", page, name, block)
		}
		text = before + begin + block + end + after
	}
	if text != string(b) && os.Getenv("UFS_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil { //nolint:gosec // a page of the project
			t.Fatalf("writing the page: %v", err)
		}
	}
}

// TestPageHasAllFormulas: the page has the formulas of the package comment, word for word.
func TestPageHasAllFormulas(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatalf("reading the package comment: %v", err)
	}
	shown, err := os.ReadFile(page)
	if err != nil {
		t.Fatalf("reading the page: %v", err)
	}
	formulas := 0
	for _, line := range strings.Split(string(doc), "\n") {
		if formula, ok := strings.CutPrefix(line, "//\t"); ok {
			formulas++
			if !strings.Contains(string(shown), "\n    "+formula+"\n") {
				t.Errorf("%s lacks the line\n    %s", page, formula)
			}
		}
	}
	if formulas < 8 {
		t.Errorf("%d lines of formulas", formulas)
	}
}

func ratesTable() string {
	var b strings.Builder
	b.WriteString("| name | rate | source | of |\n| --- | ---: | --- | --- |\n")
	for _, r := range DefaultRates() {
		fmt.Fprintf(&b, "| `%s` | %v | %s | %s |\n", r.Name, r, r.Source, r.About)
	}
	return b.String()
}

// pageJob is a table of doubles in files of 1 GiB and row groups of 128 MiB, on machines of 8
// cores.
func pageJob(rows int64, d int) Job {
	j := job(rows, d, 8, Gram)
	j.Files = int((j.Bytes + 1<<30 - 1) >> 30)
	return j
}

// priceTable shows the price of large tables, for which the number of machines matters little.
func priceTable() string {
	var b strings.Builder
	b.WriteString("| rows × columns | machines of 8 cores | time | core hours | price |\n| --- | ---: | ---: | ---: | ---: |\n")
	for _, rows := range []int64{1e9, 1e10} {
		j := pageJob(rows, 1000)
		for _, n := range []int{1, 10, FindKnee(j, DefaultRates()).Machines} {
			p := EstimateTime(j, DefaultRates(), n)
			fmt.Fprintf(&b, "| %s × 10³ | %s | %s, %s | %.0f | $%.2f |\n", map[int64]string{1e9: "10⁹", 1e10: "10¹⁰"}[rows], humanize.Comma(int64(n)), span(p.Total), p.Bound, p.Hours*8, p.Dollars)
		}
	}
	return b.String()
}

func machinesTables() string {
	machines := []int{1, 10, 100, 1000}
	var b strings.Builder
	for _, d := range []int{100, 1000} {
		fmt.Fprintf(&b, "d = %s:\n\n| rows | as doubles | row groups |", humanize.Comma(int64(d)))
		for _, n := range machines {
			fmt.Fprintf(&b, " %s |", map[bool]string{true: "1 machine", false: humanize.Comma(int64(n))}[n == 1])
		}
		b.WriteString(" knee |\n| ---: | ---: | ---: |" + strings.Repeat(" ---: |", len(machines)+1) + "\n")
		for rows, power := int64(1e6), 6; power <= 10; rows, power = rows*10, power+1 {
			j := pageJob(rows, d)
			fmt.Fprintf(&b, "| 10%s | %s | %s |", []string{"⁶", "⁷", "⁸", "⁹", "¹⁰"}[power-6], humanize.IBytes(uint64(j.Bytes)), humanize.Comma(int64(j.Groups)))
			for _, n := range machines {
				p := EstimateTime(j, DefaultRates(), n)
				fmt.Fprintf(&b, " %s, %s |", span(p.Total), p.Bound)
			}
			knee := FindKnee(j, DefaultRates())
			fmt.Fprintf(&b, " %s: %s |\n", humanize.Comma(int64(knee.Machines)), span(knee.Total))
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// measuredJob is the job that was measured: the shards of a plan of 800,000 rows of 300 doubles, each on one thread,
// files on a local disk. A shard of 1,000 rows, which are another table, gave the time of a start.
func measuredJob() (Job, Rates) {
	r, err := DefaultRates().WithOverrides("start=40ms,latency=0s,machine-bandwidth=10GB")
	if err != nil {
		panic(err)
	}
	return Job{Rows: 800000, Features: 298, Bytes: 1819 << 20, Files: 8, Groups: 40, Rounds: []Kind{Gram}, Cores: 1}, r
}

// measured is the user and system seconds of each shard's scan, and of the merge.
func measured() []struct {
	scans []float64
	merge float64
	parts int64
} {
	return []struct {
		scans []float64
		merge float64
		parts int64
	}{
		{[]float64{1.98}, 0, 5276321},
		{[]float64{1.03, 1.03}, 0.04, 6979509},
		{[]float64{0.55, 0.55, 0.55, 0.56}, 0.05, 7887716},
		{[]float64{0.32, 0.32, 0.32, 0.31, 0.31, 0.31, 0.32, 0.33}, 0.06, 9705796},
	}
}

func measuredTable() string {
	var b strings.Builder
	b.WriteString("| shards | slowest scan: measured | model | model is | all scans: measured | merge: measured | model | parts: measured | model |\n" +
		"| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	j, r := measuredJob()
	for _, m := range measured() {
		n := len(m.scans)
		p := EstimateTime(j, r, n)
		sum := 0.0
		for _, s := range m.scans {
			sum += s
		}
		slowest := slices.Max(m.scans)
		merge, modelled, parts := "–", "–", "–"
		if n > 1 {
			// On one machine: the least of one level and two is for machines side by side.
			part := j.partBytes(Gram)
			merge = fmt.Sprintf("%.2f s", m.merge)
			modelled = fmt.Sprintf("%.2f s", float64(n)*(r.rateValue(partTime)+part/r.rateValue(mergeRate)))
			parts = humanize.IBytes(uint64(p.Parts))
		}
		fmt.Fprintf(&b, "| %d | %.2f s | %.2f s | %+.0f %% | %.2f s | %s | %s | %s | %s |\n", n, slowest, p.Scan, 100*(p.Scan/slowest-1), sum,
			merge, modelled, humanize.IBytes(uint64(m.parts)), parts)
	}
	return b.String()
}

// TestModelAgainstMeasurement: a table that no rate comes from is scanned as the model
// says to 15 %: its shards are alike, and machines differ by more.
func TestModelAgainstMeasurement(t *testing.T) {
	j, r := measuredJob()
	for _, m := range measured() {
		slowest := slices.Max(m.scans)
		if p := EstimateTime(j, r, len(m.scans)); p.Scan < 0.85*slowest || p.Scan > 1.15*slowest {
			t.Errorf("%d shards: %.2f s, measured %.2f s", len(m.scans), p.Scan, slowest)
		}
	}
}

func span(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 7200:
		return fmt.Sprintf("%.1f min", seconds/60)
	case seconds < 2*86400:
		return fmt.Sprintf("%.1f h", seconds/3600)
	}
	return fmt.Sprintf("%.1f d", seconds/86400)
}
