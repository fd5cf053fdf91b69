package scalemodel

// Kind is what a round of scanning gathers.
type Kind int

// The kinds.
const (
	Profile Kind = iota // moments of each column, and perhaps a sample of rows
	Gram                // the Gram matrix and histograms
	Graph               // and the anchor graph
)

// Job is what there is to do.
type Job struct {
	Rows     int64
	Features int
	Bytes    int64 // to read in a round, as stored
	Files    int
	Groups   int    // row groups, which no shard can be smaller than
	Rounds   []Kind // in order; each is scanned by all machines and merged
	Anchors  int    // of Graph
	Sample   int64  // rows that a profile takes along
	Shards   int    // whose statistics are kept apart beside their sum; 0 for none
	Cores    int    // of a machine
}

func (j Job) d() float64 { return float64(j.Features) }
func (j Job) m() float64 { return float64(j.Anchors) }

// cpu is the seconds of one core that a round takes in all.
func (j Job) cpu(k Kind, r Rates) float64 {
	values := float64(j.Rows) * j.d()
	if k == Profile {
		return values / r.of(profileRate)
	}
	t := values/r.of(scanRate) + values*j.d()/r.of(gramRate)
	if k == Graph {
		t += 2 * values * j.m() / r.of(anchorRate)
	}
	return t
}

// footers is the seconds that it takes to open so many files of so many row groups in all.
func (j Job) footers(files, groups float64, r Rates) float64 {
	return files*r.of(latencyTime) + groups*j.d()*r.of(footerTime)
}

// partBytes is what a part takes as a file, at most. Measured: parts of a Gram matrix are
// 69,930 bytes with 100 columns and 4,258,247 with 1,000, whose triangles of doubles take
// 40,400 and 4,004,000 and do not shrink (those of pixels do: E-MNIST's, with 900 columns,
// takes 1,487,872); profiles are 7,605 and 73,102 bytes, and the rows that they take
// along do not shrink; parts of a graph are 5,859,428 bytes with 100 columns and
// 2,000 anchors, and 13,246,931 with 1,000 and 1,000.
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

// selectTime is the seconds that it takes to select from the statistics of all, about: reading
// them, and for a Gram matrix 4e-8·d² (greedy's 50 of 1,000 columns take 0.04 s, of 10,000 3.9 s),
// for a graph 5e-10·m²·d more (0.2 s of 100 columns and 2,000 anchors, 0.5 s of 1,000 and
// 1,000). What a method iterates over sampled rows is not in it.
func (j Job) selectTime(r Rates) float64 {
	if len(j.Rounds) == 0 {
		return 0
	}
	last := j.Rounds[len(j.Rounds)-1]
	t := j.partBytes(last) / r.of(mergeRate)
	if last != Profile {
		t += 4e-8 * j.d() * j.d()
	}
	if last == Graph {
		t += 5e-10 * j.m() * j.m() * j.d()
	}
	return t
}
