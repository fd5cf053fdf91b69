package scalemodel

// Kind is the statistic that a round of scanning gathers.
type Kind int

// Kinds of statistics.
const (
	Profile Kind = iota // moments of each column, and perhaps a sample of rows
	Gram                // the Gram matrix and histograms
	Graph               // the statistics of Gram, and the anchor graph
)

// Job is the work to estimate.
type Job struct {
	Rows     int64
	Features int
	Bytes    int64 // number of bytes to read in a round, in their stored form
	Files    int
	Groups   int    // number of row groups, which are the smallest possible shards
	Rounds   []Kind // rounds in order; each of them is scanned by all machines and merged
	Anchors  int    // number of anchors of the graph
	Sample   int64  // number of rows that a profile stores
	Shards   int    // number of hash shards whose statistics are stored in addition to their sum; 0 for none
	Cores    int    // number of cores of a machine
}

func (j Job) d() float64 { return float64(j.Features) }
func (j Job) m() float64 { return float64(j.Anchors) }

// cpuSeconds returns the total time of a round on one core.
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
// 4,258,247 with 1,000. The triangles of doubles in them need 40,400 and 4,004,000 bytes and cannot be compressed
// (unlike pixels: a part of E-MNIST, with 900 columns, needs 1,487,872 bytes). Profiles are 7,605 and 73,102 bytes,
// plus the sampled rows, which cannot be compressed. Parts of a graph are 5,859,428 bytes with 100 columns and 2,000
// anchors, and 13,246,931 with 1,000 and 1,000.
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

// selectTime returns the approximate time in seconds of a selection from all statistics. It consists of reading them,
// of 4e-8·d² for a Gram matrix (greedy selects 50 of 1,000 columns in 0.04 s, of 10,000 in 3.9 s), and of 5e-10·m²·d
// more for a graph (0.2 s for 100 columns and 2,000 anchors, 0.5 s for 1,000 and 1,000). It excludes iterations over
// sampled rows.
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
