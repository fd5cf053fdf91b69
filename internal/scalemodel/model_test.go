package scalemodel

import (
	"math"
	"strings"
	"testing"
)

// job is rows of d doubles in row groups and files of 128 MiB.
func job(rows int64, d, cores int, rounds ...Kind) Job {
	bytes := 8 * rows * int64(d)
	groups := int((bytes + 1<<27 - 1) >> 27)
	return Job{Rows: rows, Features: d, Bytes: bytes, Files: groups, Groups: groups, Rounds: rounds, Anchors: 2000, Sample: 2000, Cores: cores}
}

// free is a cluster where all but one thing takes no time.
func free(t *testing.T, but string) Rates {
	t.Helper()
	r, err := DefaultRates().WithOverrides("scan=1e30,profile=1e30,gram=1e30,anchors=1e30,merge=1000PB,part=0s,footer=0s,start=0s,latency=0s,machine-bandwidth=1000PB,store-bandwidth=1000PB")
	if err == nil {
		r, err = r.WithOverrides(but)
	}
	if err != nil {
		t.Fatalf("rates with %q: %v", but, err)
	}
	return r
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-4*math.Abs(b)+1e-3 }

// Each term by itself equals a calculation by hand.
func TestTerms(t *testing.T) {
	j := job(1<<24, 1<<10, 4, Gram) // 2^34 values, 2^37 bytes, 1024 files and groups
	part := 4.0*(1<<20) + 300*(1<<10)
	for _, c := range []struct {
		rates       string
		machines    int
		scan, merge float64
		bound       string
	}{
		{"scan=1048576", 1, 1 << 12, 0, BoundCompute},             // 2^34/2^20 over 4 cores
		{"scan=1048576", 1 << 4, 1 << 8, 0, BoundCompute},         //
		{"scan=1048576", 1 << 10, 1 << 2, 0, BoundCompute},        //
		{"scan=1048576", 1 << 14, 1 << 2, 0, BoundCompute},        // no more shards than row groups
		{"scan=1048576", 513, 1 << 3, 0, BoundCompute},            // one of them has two groups
		{"gram=1073741824", 1 << 4, 1 << 8, 0, BoundCompute},      // 2^44/2^30 over 64 cores
		{"machine-bandwidth=134217728", 1, 1 << 10, 0, BoundRead}, // a group a second
		{"store-bandwidth=134217728", 1 << 10, 1 << 10, 0, BoundRead},
		{"part=1s", 4, 0, 4, BoundMerge},          // as many as in two levels
		{"part=1s", 1000, 0, 64, BoundMerge},      // 32 and 32
		{"part=1s", 1024, 0, 64, BoundMerge},      //
		{"latency=8s", 64, 16 * 8, 48, BoundPlan}, // 16 files each, and 3 requests of a part, 8 at once; 64 times 16 footers
		{"start=1s", 4, 1, 1, BoundFixed},
		{"footer=1ms", 4, 256 * 1.024, 0, BoundPlan},
	} {
		p := EstimateTime(j, free(t, c.rates), c.machines)
		if !near(p.Scan, c.scan) || !near(p.Merge, c.merge) || p.Bound != c.bound {
			t.Errorf("%s, %d machines: scan %v, merge %v, %s; want %v, %v, %s", c.rates, c.machines, p.Scan, p.Merge, p.Bound, c.scan, c.merge, c.bound)
		}
		sample := 8.0 * 1024 * 2048 / float64(c.machines)
		if n := math.Min(float64(c.machines), 1024); c.machines > 1 && !near(p.Parts, n*(part+sample)) {
			t.Errorf("%d machines: parts of %v bytes, want %v", c.machines, p.Parts, n*(part+sample))
		}
	}
}

// Laws of any job: the time is that of its parts; more of anything takes no less; quicker
// rates take no more; one machine has nothing to merge, and its speed-up is 1.
func TestLaws(t *testing.T) {
	r := DefaultRates()
	for _, rows := range []int64{1, 1000, 1e6, 1e8, 1e10} {
		for _, d := range []int{1, 10, 100, 1000, 10000} {
			for _, rounds := range [][]Kind{{Profile}, {Gram}, {Profile, Gram}, {Profile, Graph}} {
				j := job(rows, d, 8, rounds...)
				one := EstimateTime(j, r, 1)
				if one.Merge != 0 || one.Levels != 0 || one.Parts != 0 || one.Speedup != 1 {
					t.Errorf("%+v on one machine: %+v, want no merging and a speedup of 1", j, one)
				}
				for _, n := range []int{1, 2, 3, 10, 100, 1000, 100000} {
					p := EstimateTime(j, r, n)
					if sum := p.Plan + p.Scan + p.Merge + p.Select; !near(p.Total, sum) || !(p.Total > 0) || math.IsInf(p.Total, 0) {
						t.Errorf("%+v on %d: %+v", j, n, p)
					}
					if want := p.Hours * 8 * r.rateValue(corePrice); p.Dollars != want {
						t.Errorf("%+v on %d: %v dollars, want %v", j, n, p.Dollars, want)
					}
					if next := EstimateTime(j, r, 2*n); n > 1 && next.Scan > p.Scan*(1+1e-9) {
						t.Errorf("%+v: %d machines scan in %v, %d in %v", j, n, p.Scan, 2*n, next.Scan)
					}
					if more := EstimateTime(job(2*rows, d, 8, rounds...), r, n); more.Scan < p.Scan {
						t.Errorf("%+v on %d: twice the rows scan in %v, not %v", j, n, more.Scan, p.Scan)
					}
					for _, faster := range []string{"scan=1e9", "profile=1e9", "gram=1e12", "anchors=1e12", "merge=1GB", "part=0s", "footer=0s", "start=0s", "latency=0s", "machine-bandwidth=1GB", "store-bandwidth=100GB"} {
						quick, err := r.WithOverrides(faster)
						if err != nil {
							t.Fatalf("rates with %q: %v", faster, err)
						}
						if q := EstimateTime(j, quick, n); q.Total > p.Total*(1+1e-9) {
							t.Errorf("%+v on %d: %s takes %v, not %v", j, n, faster, q.Total, p.Total)
						}
					}
				}
			}
		}
	}
}

// The knee: up to it doublings pay, and no number beyond it, whatever it is, is much better.
func TestKnee(t *testing.T) {
	r := DefaultRates()
	for _, rows := range []int64{1000, 1e6, 1e7, 1e8, 1e9, 1e10} {
		for _, d := range []int{10, 100, 1000} {
			j := job(rows, d, 8, Gram)
			knee := FindKnee(j, r)
			doublings := math.Log2(float64(knee.Machines))
			if one := EstimateTime(j, r, 1).Total; knee.Total > one*math.Pow(0.9, doublings)*(1+1e-9) || knee.Machines > max(j.Groups, 1) {
				t.Errorf("%d rows of %d: %+v", rows, d, knee)
			}
			for n, want := 2*knee.Machines, 0.9*knee.Total; n <= 1<<20; n, want = 2*n, 0.9*want {
				if p := EstimateTime(j, r, n); p.Total <= want {
					t.Errorf("%d rows of %d: the knee is at %d (%.1f s), and %d take %.1f s", rows, d, knee.Machines, knee.Total, n, p.Total)
				}
			}
		}
	}
	if small, large := FindKnee(job(1000, 10, 8, Gram), r), FindKnee(job(1e9, 1000, 8, Gram), r); small.Machines != 1 || large.Machines < 64 {
		t.Errorf("knees at %d and %d machines", small.Machines, large.Machines)
	}
}

// Rates are overridden by name, each in its unit, and record their source.
func TestWith(t *testing.T) {
	r, err := DefaultRates().WithOverrides("scan=1e8, start=1m30s,store-bandwidth=5GB/s")
	if err != nil {
		t.Fatalf("overriding rates: %v", err)
	}
	for _, rate := range r {
		want := map[string]float64{"scan": 1e8, "start": 90, "store-bandwidth": 5e9}[rate.Name]
		if given := rate.Source == Given; given != (want > 0) || given && rate.Value != want {
			t.Errorf("%+v, want %v", rate, want)
		}
	}
	if DefaultRates().rateValue(startTime) == 90 {
		t.Error("the defaults have changed")
	}
	for text, says := range map[string]string{
		"speed=3": "of scan, profile", "scan": "NAME=VALUE", "scan=": "above 0", "scan=0": "above 0", "scan=NaN": "above 0", "scan=-1": "above 0",
		"scan=Inf": "above 0", "start=3": "duration", "start=-1s": "duration", "core-hour=-1": "above 0", "merge=fast": "250MB", "merge=0": "250MB", "part=1ms,": "NAME=VALUE",
	} {
		if _, err := DefaultRates().WithOverrides(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want something of %q", text, err, says)
		}
	}
}
