package print

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// WriteForecast writes f, the steps and cost of a selection, for people or as JSON.
func WriteForecast(w io.Writer, f *ufs.Forecast, o Options) error {
	return output{encode: jsonEncoderOf(f), page: func(w *screen.Page) { printForecast(w, f) }}.writeTo(w, o)
}

// DescribePlan describes a plan file that was written, and the round of profiles that it asks for.
func DescribePlan(p *ufs.Planned) []string {
	lines := []string{fmt.Sprintf("%s: plan %s of %s, %s, %s rows, %s to read; --memory-limit %dMiB is enough for a shard", p.Path, p.ID,
		CountNoun(p.Files, "file"), CountNoun(p.Groups, "row group"), humanize.Comma(p.Rows), humanize.IBytes(uint64(p.Weight)), roundUpToMiB(p.Smallest))}
	switch {
	case p.KeepRows > 0:
		lines = append(lines, fmt.Sprintf("one round of profiles suffices (scan --profile-only --sample-rows %d, merge, select --stats): %s", p.KeepRows, p.Profile))
	case p.Profile != "":
		lines = append(lines, "a round of profiles comes first (scan --profile-only, merge, scan --profile): "+p.Profile)
	}
	return lines
}

func roundUpToMiB(n int64) int64 { return (n + 1<<20 - 1) >> 20 }

func printForecast(w *screen.Page, f *ufs.Forecast) {
	rows := "unknown rows"
	if f.Rows >= 0 {
		rows = humanize.Comma(f.Rows) + " rows"
	}
	count := fmt.Sprint(f.Passes.Least)
	if f.Passes.Most > f.Passes.Least {
		count += fmt.Sprintf(" to %d", f.Passes.Most)
	}
	where := "in memory"
	switch m := f.Memory; {
	case m.Sketch > 0:
		where = fmt.Sprintf("by a sketch of %s rows", humanize.Comma(m.Sketch))
	case m.OutOfCore:
		where = "out of core"
	case m.Factor > 0:
		where = fmt.Sprintf("in memory, the Gram matrix as a factor of %s rows", humanize.Comma(m.Factor))
	}
	scratch := "none"
	if f.Scratch > 0 {
		scratch = humanize.IBytes(uint64(f.Scratch))
	}
	m := f.Memory
	smallest := fmt.Sprintf("--memory-limit %dMiB", roundUpToMiB(m.Smallest))
	if roundUpToMiB(m.Smallest) < roundUpToMiB(m.InMemory) {
		way := "with more passes"
		if f.OnRows {
			way = "with scratch files"
		}
		smallest += fmt.Sprintf(" (out of core, %s; %dMiB works in memory)", way, roundUpToMiB(m.InMemory))
	}
	number := ""
	if f.AutoK {
		number = "k auto: "
	}
	if roundUpToMiB(m.Smallest) < roundUpToMiB(m.AutoK) {
		smallest += fmt.Sprintf(" (%dMiB to tell how many features are worth keeping)", roundUpToMiB(m.AutoK))
	}
	lines := [][]string{
		{"method", fmt.Sprintf("%s, scale %s, %sup to %d of %s features, %s", f.Method, f.Scale, number, f.K, humanize.Comma(int64(f.Features)), where)},
		{"input", fmt.Sprintf("%s, %s, %s", CountNoun(f.Files, "file"), rows, humanize.IBytes(uint64(f.Bytes)))},
		{"bytes read", "up to " + humanize.IBytes(uint64(f.Bytes)) + " a pass: the columns it needs"},
		{"passes", count + " (" + f.Passes.Why + ")"},
		{"peak memory", humanize.IBytes(uint64(m.Peak)) + " of " + humanize.IBytes(uint64(m.Limit))},
		{"  program", humanize.IBytes(uint64(m.Program))},
		{"  reading", humanize.IBytes(uint64(m.Reading))},
		{"  statistics", humanize.IBytes(uint64(m.Statistics))},
		{"  solver", humanize.IBytes(uint64(m.Solver))},
		{"scratch space", scratch},
		{"smallest limit", smallest},
	}
	if f.Candidates > 0 {
		lines[0][1] = fmt.Sprintf("%s, scale %s, up to %d of %s groups or features that can be chosen, %s features in all, %s", f.Method, f.Scale, f.K, humanize.Comma(int64(f.Candidates)), humanize.Comma(int64(f.Features)), where)
	}
	if m.Kept > 0 {
		kept := fmt.Sprintf("up to %s of a pass for the next: at least %d of %s", humanize.IBytes(uint64(m.Kept)), m.KeptGroups, CountNoun(m.Groups, "row group"))
		lines = slices.Insert(lines, 8, []string{"  kept", kept})
	}
	if f.WhyK != "" {
		lines = slices.Insert(lines, 1, []string{"", fmt.Sprintf("k %d: %s", f.K, f.WhyK)})
	}
	if f.Why != "" {
		lines = slices.Insert(lines, 1, []string{"", f.Why})
	}
	w.Table([]string{"select would", ""}, lines)
	if f.Machines != nil {
		printMachines(w, f.Machines)
	}
}

func printMachines(w *screen.Page, m *ufs.MachinesForecast) {
	rounds := "one round of scan and merge"
	if m.Rounds > 1 {
		rounds = fmt.Sprintf("%d rounds of scan and merge", m.Rounds)
	}
	w.Printf("\nEstimate, nothing was run: %s, machines of %s, %s\n\n", rounds, CountNoun(m.Cores, "core"), CountNoun(m.Groups, "row group"))
	var rows [][]string
	for _, p := range m.Points {
		levels := ""
		if p.Levels > 1 {
			levels = "two-level "
		}
		rows = append(rows, []string{
			humanize.Comma(int64(p.Machines)), durationText(p.Plan), durationText(p.Scan), levels + durationText(p.Merge), durationText(p.Select), durationText(p.Total),
			strconv.FormatFloat(p.Speedup, 'f', 1, 64), strconv.FormatFloat(p.Hours, 'g', 3, 64), fmt.Sprintf("$%.2f", p.Dollars), humanize.IBytes(uint64(p.Parts)), p.Bound,
		})
	}
	w.Table([]string{">machines", ">plan", ">scan", ">merge", ">select", ">total", ">speed-up", ">machine-hours", ">price", ">parts", "most goes to"}, rows)
	w.Printf("\nThe knee is at %s (%s): from there on, doubling them saves less than a tenth.\n", CountNoun(m.Knee.Machines, "machine"), durationText(m.Knee.Total))
	bySource := map[string][]string{}
	for _, r := range m.Rates {
		bySource[r.Source] = append(bySource[r.Source], r.Name+" "+r.Text)
	}
	for _, source := range []string{"given", "measured", "assumed"} {
		if len(bySource[source]) > 0 {
			w.Printf("Rates %s: %s\n", source, strings.Join(bySource[source], ", "))
		}
	}
	for _, warning := range m.Warnings {
		w.Printf("Note: %s\n", warning)
	}
}

// durationText writes a time in the largest unit in which it is at least 2.
func durationText(seconds float64) string {
	for _, unit := range []struct {
		seconds float64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "min"}} {
		if seconds >= 2*unit.seconds {
			return fmt.Sprintf("%.1f %s", seconds/unit.seconds, unit.name)
		}
	}
	return fmt.Sprintf("%.1f s", seconds)
}
