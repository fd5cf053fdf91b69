package spec

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Score is one of the three ranking functions of the SPEC paper (Zhao and Liu, ICML 2007).
type Score int

// Ranking functions φ₂, φ₁ and φ₃ of the package comment.
const (
	Phi2 Score = iota // uses all eigenvectors except the trivial one
	Phi1              // uses all eigenvectors
	Phi3              // uses the leading eigenvectors
)

var scoreNames = [...]string{"phi2", "phi1", "phi3"}

func (s Score) String() string { return scoreNames[s] }

const (
	defaultClusters = 10
	defaultPower    = 1
	// largestPower is the largest allowed r. It is far above the powers that usefully separate eigenvalues: 0.9³² is 0.03.
	largestPower = 32
)

// Options chooses the score. The zero value is φ₂ with γ(λ) = λ.
type Options struct {
	Score Score
	Power int // r of γ(λ) = λʳ; 0 means 1
	// Clusters is k of φ₃, which uses the eigenvectors 2 to k; 0 means 10.
	Clusters int
	// Mean has the mean of each feature in the units of the Graph, for φ₁ and φ₃. If it is nil, features are centred.
	Mean    []float64
	Threads int // 0 means GOMAXPROCS; the answer does not depend on it
}

// Validate reports every fault of o for d features in one *stream.UsageError.
func (o Options) Validate(d int) error {
	var faults stream.Faults
	if d < 1 {
		faults.Addf("there are no features to choose from")
	}
	if o.Score < Phi2 || o.Score > Phi3 {
		faults.Addf("{score} %d is neither phi1, phi2 nor phi3", int(o.Score))
	}
	method.RefuseNegative(&faults, "{power}", o.Power)
	if o.Power > largestPower {
		faults.Addf("{power} = %d is more than %d", o.Power, largestPower)
	}
	method.RefuseNegative(&faults, "{clusters}", o.Clusters)
	if o.Score == Phi3 && o.Clusters == 1 {
		faults.Addf("{clusters} = 1 leaves phi3 no eigenvector: the first is constant; want 2 or more")
	}
	if o.Mean != nil && len(o.Mean) != d {
		faults.Addf("%d means are not those of the %d features", len(o.Mean), d)
	}
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

func (o Options) withDefaults() Options {
	o.Power = cmp.Or(o.Power, defaultPower)
	o.Clusters = cmp.Or(o.Clusters, defaultClusters)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o
}
