package scalemodel

// Kind is the statistic that a round of scanning gathers.
type Kind int

// Kinds of statistics.
const (
	Profile Kind = iota // moments of each column, and a sample of rows if Job.Sample is set
	Gram                // the Gram matrix and histograms
	Graph               // the statistics of Gram, and the anchor graph
)

// Job is the work to estimate.
type Job struct {
	Rows     int64
	Features int
	Bytes    int64 // size of the stored data that a round reads, in bytes
	Files    int
	Groups   int    // number of row groups; a machine reads whole row groups
	Rounds   []Kind // the statistic of each round, in order; all machines scan the rows, then parts are merged
	Anchors  int    // number of anchors of the graph
	Sample   int64  // number of rows that a profile stores
	Shards   int    // number of hash shards of the rows if the statistics of each are stored too; 0 for none
	Cores    int    // number of cores of a machine
}

// sampledRows is the number of rows that all parts of Gram statistics together sample, for the default method.
const sampledRows = 2048

func (j Job) featureCount() float64 { return float64(j.Features) }
func (j Job) anchorCount() float64  { return float64(j.Anchors) }

// cpuSeconds returns the total time of a round that gathers this kind of statistic on one core.
func (j Job) cpuSeconds(kind Kind, r Rates) float64 {
	values := float64(j.Rows) * j.featureCount()
	if kind == Profile {
		return values / r.rateValue(profileRate)
	}
	t := values/r.rateValue(scanRate) + values*j.featureCount()/r.rateValue(gramRate)
	if kind == Graph {
		t += 2 * values * j.anchorCount() / r.rateValue(anchorRate)
	}
	return t
}

func (j Job) footerSeconds(files, groups float64, r Rates) float64 {
	return files*r.rateValue(latencyTime) + groups*j.featureCount()*r.rateValue(footerTime)
}

// partBytes returns an upper bound of the size of a part file. These sizes were measured: a part of a Gram matrix has
// 69,930 bytes with 100 columns and 4,258,247 with 1,000. Of these, 40,400 and 4,004,000 bytes are a triangle of
// float64, which cannot be compressed. (With pixels it can: a part of E-MNIST, with 900 columns, needs 1,487,872
// bytes.) A profile has 7,605 bytes with 100 columns and 73,102 with 1,000, plus the sampled rows, which cannot be
// compressed. Parts of a graph are 5,859,428 bytes with 100 columns and 2,000 anchors, and 13,246,931 with 1,000
// columns and 1,000 anchors.
func (j Job) partBytes(k Kind) float64 {
	if k == Profile {
		return 76*j.featureCount() + 8*j.featureCount()*float64(j.Sample)
	}
	b := 4*j.featureCount()*j.featureCount() + 300*j.featureCount()
	if k == Graph {
		b += 8*j.anchorCount()*j.featureCount() + 1.2*j.anchorCount()*j.anchorCount()
	}
	return b * float64(1+j.Shards)
}

// selectTime returns the approximate time in seconds of a selection from the merged statistics. It is the time for
// reading them plus 4e-8·d² for a Gram matrix (greedy selects 50 of 1,000 columns in 0.04 s, of 10,000 in 3.9 s). For a
// graph 5e-10·m²·d is added (0.2 s for 100 columns and 2,000 anchors, 0.5 s for 1,000 and 1,000). Iterations over
// sampled rows are not included.
func (j Job) selectTime(r Rates) float64 {
	if len(j.Rounds) == 0 {
		return 0
	}
	last := j.Rounds[len(j.Rounds)-1]
	t := j.partBytes(last) / r.rateValue(mergeRate)
	if last != Profile {
		t += 4e-8 * j.featureCount() * j.featureCount()
	}
	if last == Graph {
		t += 5e-10 * j.anchorCount() * j.anchorCount() * j.featureCount()
	}
	return t
}
