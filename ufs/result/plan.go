package result

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
	Dollars  float64 `json:"dollars"`       // price of the cores in these hours
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

// Passes is the least and the largest number of passes over the input, and the reason for them.
type Passes struct {
	Least int    `json:"least"`
	Most  int    `json:"most"`
	Why   string `json:"why"`
}

// Planned describes the contents of a new plan file.
type Planned struct {
	Path     string `json:"path"`
	ID       string `json:"id"`
	Files    int    `json:"files"`
	Groups   int    `json:"row_groups"` // number of row groups; a shard consists of whole row groups
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes"`  // of the files
	Weight   int64  `json:"weight"` // bytes of the row groups to read, which shards share equally
	Features int    `json:"features"`
	// Profile is the reason why a first round of profiles is needed. It is empty if one round of Scan suffices.
	Profile string `json:"profile,omitempty"`
	// KeepRows is set for a method that iterates over rows. Such a method needs only the round of profiles. The profiles
	// keep this many rows (ScanRequest.KeepRows), from which Select draws.
	KeepRows int      `json:"keep_rows,omitempty"`
	Smallest int64    `json:"smallest_bytes"` // the smallest memory limit for scanning a shard
	Warnings []string `json:"warnings"`
}
