package scalemodel

import "math"

// Point is the estimate for one number of machines. Times are seconds.
type Point struct {
	Machines int
	Plan     float64 // time to read footers, at the beginning
	Scan     float64 // time of scanning in all rounds, from the start of a machine until its part is stored
	Merge    float64 // time of merging in all rounds
	Select   float64
	Total    float64 // time from the first command to the selection
	Speedup  float64 // total time of one machine divided by Total
	Hours    float64 // hours of machines to pay for, without the time in which they wait for merges
	Dollars  float64 // price of the cores in these hours
	Levels   int     // levels of merging; 0 if nothing is merged
	Parts    float64 // total bytes of the parts of all rounds
	Bound    string  // the work that needs most of the time, one of the constants below
}

// The values of Point.Bound.
const (
	BoundCompute = "computing"
	BoundRead    = "reading"
	BoundMerge   = "merging"
	BoundPlan    = "planning"
	BoundFixed   = "starting" // starting machines, opening files, uploading parts and selecting
)

// EstimateTime applies the model to a job on the given number of machines, 1 or more.
func EstimateTime(j Job, r Rates, machines int) Point {
	p := estimateWithoutSpeedup(j, r, machines)
	p.Speedup = estimateWithoutSpeedup(j, r, 1).Total / p.Total
	return p
}

func estimateWithoutSpeedup(j Job, r Rates, machines int) Point {
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
			if kind != Profile {
				part += 8 * j.featureCount() * sampledRows / float64(machines)
			}
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
	p.Dollars = p.Hours * float64(max(j.Cores, 1)) * r.rateValue(corePrice)
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

// footersAhead is the number of footers that package chunkio requests at a time to make a plan.
const footersAhead = 16

// partRequests is the number of requests for a part in a store: for its header, its version and its bytes. While one
// part is added, requestsAhead requests for further parts are in progress.
const partRequests, requestsAhead = 3, 8

// mergeTime returns the time in seconds to merge n part files of `part` bytes each. With one level, one machine merges
// the parts one after the other. With two levels, about √n machines first merge a group of parts each, in parallel, and
// then one machine merges their results. The faster way is used.
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

// FindKnee returns the estimate for the largest number of machines that are worth paying for. Up to this number, each
// doubling of the machines saves at least a tenth of the time. If one doubling saves less, it is enough that it and the
// next doublings save a tenth each on average. It tries 1, 2, 4, … machines and one machine for each row group.
func FindKnee(j Job, r Rates) Point {
	knee := estimateWithoutSpeedup(j, r, 1)
	for n := 2; knee.Machines < j.Groups && n < 2*j.Groups; n *= 2 {
		p := estimateWithoutSpeedup(j, r, min(n, j.Groups))
		if p.Total <= knee.Total*math.Pow(0.9, math.Log2(float64(p.Machines)/float64(knee.Machines))) {
			knee = p
		}
	}
	return EstimateTime(j, r, knee.Machines)
}
