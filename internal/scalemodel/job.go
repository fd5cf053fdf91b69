package scalemodel

// Kind is the statistic that a round of scanning gathers.
type Kind int

// The kinds.
const (
	Profile Kind = iota // moments of each column, and perhaps a sample of rows
	Gram                // the Gram matrix and histograms
	Graph               // and the anchor graph
)

// Job is the work to estimate.
type Job struct {
	Rows     int64
	Features int
	Bytes    int64 // to read in a round, in their stored form
	Files    int
	Groups   int    // row groups, the smallest possible shards
	Rounds   []Kind // in order; each is scanned by all machines and merged
	Anchors  int    // of Graph
	Sample   int64  // rows that a profile stores
	Shards   int    // hash shards whose statistics are stored in addition to their sum; 0 for none
	Cores    int    // of a machine
}

func (j Job) d() float64 { return float64(j.Features) }
func (j Job) m() float64 { return float64(j.Anchors) }

// cpuSeconds is the total time of a round on one core.
func (j Job) cpuSeconds(k Kind, r Rates) float64 {
	values := float64(j.Rows) * j.d()
	if k == Profile {
		return values / r.rateValue(profileRate)
	}
	t := values/r.rateValue(scanRate) + values*j.d()/r.rateValue(gramRate)
	if k == Graph {
		t += 2 * values * j.m() / r.rateValue(anchorRate)
	}
	return t
}

func (j Job) footerSeconds(files, groups float64, r Rates) float64 {
	return files*r.rateValue(latencyTime) + groups*j.d()*r.rateValue(footerTime)
}

// partBytes bounds the size of a part as a file. Measured: parts of a Gram matrix are 69,930 bytes with 100 columns and
// 4,258,247 with 1,000; their triangles of doubles take 40,400 and 4,004,000 and are incompressible (unlike those of
// pixels: E-MNIST's, with 900 columns, takes 1,487,872); profiles are 7,605 and 73,102 bytes, plus the sampled rows,
// which are incompressible; parts of a graph are 5,859,428 bytes with 100 columns and 2,000 anchors, and 13,246,931
// with 1,000 and 1,000.
func (j Job) partBytes(k Kind) float64 {
	if k == Profile {
		return 76*j.d() + 8*j.d()*float64(j.Sample)
	}
	b := 4*j.d()*j.d() + 300*j.d()
	if k == Graph {
		b += 8*j.m()*j.d() + 1.2*j.m()*j.m()
	}
	return b * float64(1+j.Shards)
}

// selectTime is the approximate time in seconds of a selection from all statistics: reading them, and for a Gram matrix
// 4e-8·d² (greedy's 50 of 1,000 columns take 0.04 s, of 10,000 3.9 s), for a graph 5e-10·m²·d more (0.2 s of 100
// columns and 2,000 anchors, 0.5 s of 1,000 and 1,000). It excludes iterations over sampled rows.
func (j Job) selectTime(r Rates) float64 {
	if len(j.Rounds) == 0 {
		return 0
	}
	last := j.Rounds[len(j.Rounds)-1]
	t := j.partBytes(last) / r.rateValue(mergeRate)
	if last != Profile {
		t += 4e-8 * j.d() * j.d()
	}
	if last == Graph {
		t += 5e-10 * j.m() * j.m() * j.d()
	}
	return t
}
