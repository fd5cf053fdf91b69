package forecasting

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/scalemodel"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// OnMachines fills in f.Machines. The estimated times follow from rates. Some rates were measured. The rates of
// networks and schedulers are assumptions, unless m gives them.
func (f *Forecast) OnMachines(m result.Machines) error {
	rates, err := scalemodel.DefaultRates().WithOverrides(m.Rates)
	if err != nil {
		return stream.Usagef("{rates} %w", err)
	}
	switch {
	case len(m.Counts) == 0:
		return stream.Usagef("{rates} and {cores} describe the machines of {machines}; add {machines 1,10,100}")
	case slices.Min(m.Counts) < 1:
		return stream.Usagef("{machines}: want numbers from 1 on, as 1,10,100")
	case m.Cores < 0:
		return stream.Usagef("{cores} %d: want 1 or more", m.Cores)
	case f.Rows < 0:
		return stream.Usagef("{machines}: a stream can be read by one machine only, once; save it to files first")
	}
	j := f.job
	j.Cores = cmp.Or(m.Cores, runtime.NumCPU())
	f.Machines = &result.MachinesForecast{
		Estimate: true, Cores: j.Cores, Rounds: len(j.Rounds), Groups: j.Groups, Knee: result.MachinesPoint(scalemodel.FindKnee(j, rates)), Warnings: []string{},
	}
	for _, n := range m.Counts {
		f.Machines.Points = append(f.Machines.Points, result.MachinesPoint(scalemodel.EstimateTime(j, rates, n)))
	}
	for _, r := range rates {
		f.Machines.Rates = append(f.Machines.Rates, result.Rate{Name: r.Name, Value: r.Value, Unit: string(r.Unit), Source: r.Source, About: r.About, Text: r.String()})
	}
	if most := slices.Max(m.Counts); most > j.Groups {
		addWarning(f.Machines, "there are %d row groups, which are scanned whole: more machines than that have nothing to do", j.Groups)
	}
	if f.OnRows {
		addWarning(f.Machines, "method %s then iterates over the rows that the profile took along, on one machine: that is not in these times", f.Method)
	}
	if f.Memory.OutOfCore && f.Memory.InMemory > f.Memory.Limit {
		addWarning(f.Machines, "the statistics do not fit into the memory limit, so shards cannot be scanned within it: raise it to the %d MiB that work in memory", (f.Memory.InMemory+1<<20-1)>>20)
	}
	return nil
}

func addWarning(m *result.MachinesForecast, format string, args ...any) {
	m.Warnings = append(m.Warnings, stream.Textf(format, args...).String())
}
