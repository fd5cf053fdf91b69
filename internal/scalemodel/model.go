package scalemodel

import "math"

// Point is the estimate for one number of machines. Times are seconds.
type Point struct {
	Machines int
	Plan     float64 // reading footers, before all else
	Scan     float64 // all rounds, from a machine's start to its part
	Merge    float64 // all rounds
	Select   float64
	Total    float64 // from the first command to the selection
	Speedup  float64 // over one machine
	Hours    float64 // that are paid for, while others merge not counted
	Levels   int     // 0 where nothing is merged
	Parts    float64 // of all rounds
	Bound    string  // what most of the time goes to
}

// What most of the time of a Point goes to.
const (
	BoundCompute = "computing"
	BoundRead    = "reading"
	BoundMerge   = "merging"
	BoundPlan    = "planning"
	BoundFixed   = "starting" // and opening files, uploading parts, selecting
)

// Estimate is the model for one number of machines, 1 or more.
func Estimate(j Job, r Rates, machines int) Point {
	p := estimate(j, r, machines)
	p.Speedup = estimate(j, r, 1).Total / p.Total
	return p
}

func estimate(j Job, r Rates, machines int) Point {
	p := Point{Machines: machines}
	alone := machines <= 1
	groups := float64(max(j.Groups, 1))
	n := math.Min(float64(max(machines, 1)), groups) // the others have nothing to do
	share := math.Ceil(groups/n) / groups
	files := float64(max(j.Files, 1))
	var compute, read, fixed float64
	mergers := 0 // that are started one after the other
	for i, kind := range j.Rounds {
		cpu := share * j.cpu(kind, r) / float64(max(j.Cores, 1))
		fetch := share * float64(j.Bytes) / math.Min(r.of(machineRate), r.of(storeRate)/n)
		if cpu > fetch {
			compute += cpu
		} else {
			read += fetch
		}
		start := r.of(startTime)
		if alone && i > 0 {
			start = 0 // one process makes all rounds
		}
		still := start + j.footers(math.Ceil(files/n), share*groups, r)
		if !alone {
			part := j.partBytes(kind)
			still += part / r.of(machineRate)
			merge, levels := mergeTime(r, n, part)
			p.Merge += merge
			mergers += levels
			p.Levels = max(p.Levels, levels)
			p.Parts += n * part
		}
		fixed += still
		p.Scan += still + math.Max(cpu, fetch)
	}
	p.Select = j.selectTime(r)
	if !alone {
		p.Plan = j.footers(math.Ceil(files/footersAhead), groups, r)
	}
	p.Total = p.Plan + p.Scan + p.Merge + p.Select
	p.Hours = n * p.Scan / 3600
	starts := float64(mergers) * r.of(startTime)
	fixed += p.Select + starts
	merge := p.Merge - starts
	switch max(compute, read, merge, p.Plan, fixed) {
	case compute:
		p.Bound = BoundCompute
	case read:
		p.Bound = BoundRead
	case merge:
		p.Bound = BoundMerge
	case p.Plan:
		p.Bound = BoundPlan
	default:
		p.Bound = BoundFixed
	}
	return p
}

// footersAhead is how many footers a plan asks a store for at a time (chunkio).
const footersAhead = 16

// Of a part in a store merge asks for its header, then for its version and its bytes, with several
// on their way while one is added.
const partRequests, ahead = 3, 8

// mergeTime is the time to merge n parts of so many bytes, one after the other or in groups of
// about √n that are merged side by side and then together.
func mergeTime(r Rates, n, part float64) (seconds float64, levels int) {
	each := max(r.of(partTime)+part/r.of(mergeRate), part/r.of(machineRate), partRequests*r.of(latencyTime)/ahead)
	around := r.of(startTime) + part/r.of(machineRate)
	one := around + n*each
	group := math.Ceil(math.Sqrt(n))
	two := 2*around + (group+math.Ceil(n/group))*each
	if two < one {
		return two, 2
	}
	return one, 1
}

// Knee is the number of machines, of 1, 2, 4, … and one for each row group, up to which each
// doubling saves a tenth of the time at least, on average since the knee before. Beyond it
// machines are paid for and hardly used.
func Knee(j Job, r Rates) Point {
	knee := estimate(j, r, 1)
	for n := 2; knee.Machines < j.Groups && n < 2*j.Groups; n *= 2 {
		p := estimate(j, r, min(n, j.Groups))
		if p.Total <= knee.Total*math.Pow(0.9, math.Log2(float64(p.Machines)/float64(knee.Machines))) {
			knee = p
		}
	}
	return Estimate(j, r, knee.Machines)
}
