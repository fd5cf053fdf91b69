package ufs

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/scalemodel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Machines describes the machines for which Forecast.OnMachines estimates the duration of a job.
type Machines struct {
	Counts []int  // numbers of machines, each at least 1
	Cores  int    // cores of a machine; 0 means the number of cores of this machine
	Rates  string // rates that replace measured or assumed rates, as NAME=VALUE,…; see docs/scale.md
}

// MachinesPoint is the estimate of a job's duration on one number of machines. Times are in seconds.
type MachinesPoint struct {
	Machines int     `json:"machines"`
	Plan     float64 `json:"plan_s"`  // reading footers, before the scan
	Scan     float64 `json:"scan_s"`  // all rounds, each from the start of a machine until its part is written
	Merge    float64 `json:"merge_s"` // all rounds
	Select   float64 `json:"select_s"`
	Total    float64 `json:"total_s"`       // from the first command to the selection
	Speedup  float64 `json:"speedup"`       // ratio to the duration on one machine
	Hours    float64 `json:"machine_hours"` // paid machine-hours; machines that idle while others merge are not paid
	Levels   int     `json:"merge_levels"`  // levels of the tree of merges; 0 if parts are not merged
	Parts    float64 `json:"parts_bytes"`   // total size of the parts of all rounds
	Bound    string  `json:"bound"`         // the part of the job that takes most of the time
}

// Rate is a number on which an estimate is based, such as the throughput of a disk.
type Rate struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Source string  `json:"source"` // measured, assumed or given
	About  string  `json:"about"`  // description
	Text   string  `json:"text"`   // value and unit for people
}

// MachinesForecast is an estimate of the duration of a job of plan, scan, merge and select on many machines.
// Its formulas are in docs/scale.md.
type MachinesForecast struct {
	Estimate bool            `json:"estimate"` // always true: the job was not run
	Cores    int             `json:"cores"`
	Rounds   int             `json:"rounds"` // rounds of scan and merge
	Groups   int             `json:"row_groups"`
	Points   []MachinesPoint `json:"points"`
	Knee     MachinesPoint   `json:"knee"` // from here on, doubling the machines saves less than a tenth of the time
	Rates    []Rate          `json:"rates"`
	Warnings []string        `json:"warnings"`
}

// OnMachines fills in f.Machines. The estimated times follow from rates. Some rates were measured. The rates of
// networks and schedulers are assumptions, unless m gives them.
func (f *Forecast) OnMachines(m Machines) error {
	rates, err := scalemodel.DefaultRates().WithOverrides(m.Rates)
	if err != nil {
		return stream.Usagef("{rates} %w", err)
	}
	switch {
	case len(m.Counts) == 0:
		return stream.Usagef("{rates} and {cores} describe the machines of {machines}; add {machines} 1,10,100")
	case slices.Min(m.Counts) < 1:
		return stream.Usagef("{machines}: want numbers from 1 on, as 1,10,100")
	case m.Cores < 0:
		return stream.Usagef("{cores} %d: want 1 or more", m.Cores)
	case f.Rows < 0:
		return stream.Usagef("{machines}: a stream can be read by one machine only, once; save it to files first")
	}
	j := f.job
	j.Cores = cmp.Or(m.Cores, runtime.NumCPU())
	f.Machines = &MachinesForecast{
		Estimate: true, Cores: j.Cores, Rounds: len(j.Rounds), Groups: j.Groups, Knee: MachinesPoint(scalemodel.FindKnee(j, rates)), Warnings: []string{},
	}
	for _, n := range m.Counts {
		f.Machines.Points = append(f.Machines.Points, MachinesPoint(scalemodel.EstimateTime(j, rates, n)))
	}
	for _, r := range rates {
		f.Machines.Rates = append(f.Machines.Rates, Rate{r.Name, r.Value, string(r.Unit), r.Source, r.About, r.String()})
	}
	if most := slices.Max(m.Counts); most > j.Groups {
		f.Machines.warn("there are %d row groups, which are scanned whole: more machines than that have nothing to do", j.Groups)
	}
	if f.OnRows {
		f.Machines.warn("method %s then iterates over the rows that the profile took along, on one machine: that is not in these times", f.Method)
	}
	if f.Memory.OutOfCore && f.Memory.InMemory > f.Memory.Limit {
		f.Machines.warn("the statistics do not fit into the memory limit, so shards cannot be scanned within it: raise it to the %d MiB that work in memory", (f.Memory.InMemory+1<<20-1)>>20)
	}
	return nil
}

func (m *MachinesForecast) warn(format string, args ...any) {
	m.Warnings = append(m.Warnings, stream.Textf(format, args...).String())
}

func (r *run) scaleJob(ds *chunkio.Dataset) scalemodel.Job {
	j := scalemodel.Job{Rows: ds.Rows(), Features: len(ds.Columns()), Files: len(ds.Inputs()), Groups: len(ds.Cuts()) - 1, Shards: r.Stability}
	for _, in := range ds.Inputs() {
		j.Bytes += in.Bytes
	}
	kind := scalemodel.Gram
	switch r.From {
	case method.FromProfile, method.FromRows:
		kind = scalemodel.Profile
		if r.From == method.FromRows {
			j.Sample = min(j.Rows, cmp.Or(r.Sample, j.Rows))
		}
	case method.FromGraph:
		kind, j.Anchors = scalemodel.Graph, r.expectedAnchors(j.Rows)
		if r.Anchors.File == "" {
			j.Sample = min(j.Rows, int64(r.anchorSampleRows(r.maxAnchors(), j.Features)))
		}
	}
	if kind != scalemodel.Profile && r.profileReason(ds).Format != "" {
		j.Rounds = append(j.Rounds, scalemodel.Profile)
	}
	j.Rounds = append(j.Rounds, kind)
	return j
}
