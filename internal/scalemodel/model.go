package scalemodel

import "math"

// Point is the estimate for one number of machines. Times are seconds.
type Point struct {
	Machines int
	Plan     float64 // time to read footers, at the beginning
	Scan     float64 // time of all rounds, from the start of a machine to its part
	Merge    float64 // time of all rounds
	Select   float64
	Total    float64 // time from the first command to the selection
	Speedup  float64 // factor compared with one machine
	Hours    float64 // paid machine hours, without waiting for merges
	Levels   int     // levels of merging; 0 if nothing is merged
	Parts    float64 // total bytes of the parts of all rounds
	Bound    string  // the part of the work that takes most of the time
}

// Values of Point.Bound.
const (
	BoundCompute = "computing"
	BoundRead    = "reading"
	BoundMerge   = "merging"
	BoundPlan    = "planning"
	BoundFixed   = "starting" // also opening files, uploading parts, selecting
)

// EstimateTime applies the model to a number of machines, 1 or more.
func EstimateTime(j Job, r Rates, machines int) Point {
	p := estimateTimes(j, r, machines)
	p.Speedup = estimateTimes(j, r, 1).Total / p.Total
	return p
}

func estimateTimes(j Job, r Rates, machines int) Point {
	p := Point{Machines: machines}
	alone := machines <= 1
	groups := float64(max(j.Groups, 1))
	n := math.Min(float64(max(machines, 1)), groups) // further machines have no work
	share := math.Ceil(groups/n) / groups
	files := float64(max(j.Files, 1))
	var compute, read, fixed float64
	mergers := 0 // number of mergers, which are started one after the other
	for i, kind := range j.Rounds {
		cpu := share * j.cpuSeconds(kind, r) / float64(max(j.Cores, 1))
		fetch := share * float64(j.Bytes) / math.Min(r.rateValue(machineRate), r.rateValue(storeRate)/n)
		if cpu > fetch {
			compute += cpu
		} else {
			read += fetch
		}
		start := r.rateValue(startTime)
		if alone && i > 0 {
			start = 0 // one process does all rounds
		}
		still := start + j.footerSeconds(math.Ceil(files/n), share*groups, r)
		if !alone {
			part := j.partBytes(kind)
			still += part / r.rateValue(machineRate)
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
		p.Plan = j.footerSeconds(math.Ceil(files/footersAhead), groups, r)
	}
	p.Total = p.Plan + p.Scan + p.Merge + p.Select
	p.Hours = n * p.Scan / 3600
	starts := float64(mergers) * r.rateValue(startTime)
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

// footersAhead is the number of footers that a plan requests at a time (chunkio).
const footersAhead = 16

// To read a part from a store, merge requests its header, its version and its bytes, which are partRequests requests.
// While one part is added, requestsAhead requests are in progress.
const partRequests, requestsAhead = 3, 8

// mergeTime returns the time to merge n parts of part bytes each. They are merged one after the other, or in about √n
// groups that are merged in parallel and whose results are then merged.
func mergeTime(r Rates, n, part float64) (seconds float64, levels int) {
	each := max(r.rateValue(partTime)+part/r.rateValue(mergeRate), part/r.rateValue(machineRate), partRequests*r.rateValue(latencyTime)/requestsAhead)
	around := r.rateValue(startTime) + part/r.rateValue(machineRate)
	one := around + n*each
	group := math.Ceil(math.Sqrt(n))
	two := 2*around + (group+math.Ceil(n/group))*each
	if two < one {
		return two, 2
	}
	return one, 1
}

// FindKnee returns the largest number of machines up to which each doubling saves at least a tenth of the time, on
// average since the previous such number. It tries 1, 2, 4, … machines and one machine for each row group. More
// machines would be paid for but hardly used.
func FindKnee(j Job, r Rates) Point {
	knee := estimateTimes(j, r, 1)
	for n := 2; knee.Machines < j.Groups && n < 2*j.Groups; n *= 2 {
		p := estimateTimes(j, r, min(n, j.Groups))
		if p.Total <= knee.Total*math.Pow(0.9, math.Log2(float64(p.Machines)/float64(knee.Machines))) {
			knee = p
		}
	}
	return EstimateTime(j, r, knee.Machines)
}
