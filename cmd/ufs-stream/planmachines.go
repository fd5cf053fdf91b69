package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// machinesFlags are the flags of plan for an estimate of the time on many machines.
type machinesFlags struct{ ufs.Machines }

func (m *machinesFlags) addFlags(fs *pflag.FlagSet) {
	fs.IntSliceVar(&m.Counts, "machines", nil, "estimate the time on `N,…` machines: a row for each number, and the number from which more hardly help")
	fs.IntVar(&m.Cores, "cores", 0, "cores of a machine, for --machines (default: this machine's)")
	fs.StringVar(&m.Rates, "rates", "", "for --machines, `NAME=VALUE,…` in place of rates that were measured or are assumed: start=60s,machine-bandwidth=1GB")
}

func (m *machinesFlags) firstGivenFlag(cmd *cobra.Command) string {
	for _, name := range []string{"machines", "cores", "rates"} {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

func (m *machinesFlags) rejectForPlanFile(cmd *cobra.Command) error {
	if name := m.firstGivenFlag(cmd); name != "" {
		return stream.Usagef("%v is for an estimate on the screen or as {format} json, which a plan file does not hold; give {o} JOB.plan.json without it", stream.Option(name))
	}
	return nil
}

func (m *machinesFlags) estimateMachines(cmd *cobra.Command, f *ufs.Forecast) error {
	if m.firstGivenFlag(cmd) == "" {
		return nil
	}
	return f.OnMachines(m.Machines)
}

func printMachines(w *screen.Page, m *ufs.MachinesForecast) {
	rounds := "one round of scan and merge"
	if m.Rounds > 1 {
		rounds = fmt.Sprintf("%d rounds of scan and merge", m.Rounds)
	}
	w.Printf("\nEstimate, nothing was run: %s, machines of %s, %s\n\n", rounds, countNoun(m.Cores, "core"), countNoun(m.Groups, "row group"))
	var rows [][]string
	for _, p := range m.Points {
		levels := ""
		if p.Levels > 1 {
			levels = "two-level "
		}
		rows = append(rows, []string{
			humanize.Comma(int64(p.Machines)), durationText(p.Plan), durationText(p.Scan), levels + durationText(p.Merge), durationText(p.Select), durationText(p.Total),
			strconv.FormatFloat(p.Speedup, 'f', 1, 64), strconv.FormatFloat(p.Hours, 'g', 3, 64), humanize.IBytes(uint64(p.Parts)), p.Bound,
		})
	}
	w.Table([]string{">machines", ">plan", ">scan", ">merge", ">select", ">total", ">speed-up", ">machine-hours", ">parts", "most goes to"}, rows)
	w.Printf("\nThe knee is at %s (%s): from there on, doubling them saves less than a tenth.\n", countNoun(m.Knee.Machines, "machine"), durationText(m.Knee.Total))
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
