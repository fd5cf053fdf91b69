package align

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// mostDiffusion is the largest number of diffusion steps. Far fewer already make all eigenvalues except the largest
	// practically 0.
	mostDiffusion = 1000
	// defaultPower is the default p of the criterion N/D^p, see Choose. Alignment itself has p = 1. The NMI with 0.9 is
	// 0.3 points higher than with 1, and 0.4 points higher than with 0.8 (see the package documentation).
	defaultPower = 0.9
	// defaultK is the default number of chosen features.
	defaultK = 50
)

// Options sets the number of features and the criterion. With the zero value min(50, d) features are chosen.
type Options struct {
	K       int   // number of features to choose, including Keep; 0 means min(50, d)
	Keep    []int // columns that are chosen first, in this order
	Forbid  []int // columns that must not be chosen
	Threads int   // 0 means GOMAXPROCS; the answer does not depend on it

	// Floor is the novelty floor φ, from 0 (no floor) to below 1. It is a share of a feature's own variance. While the
	// chosen features leave more than this share of some features unexplained, only such features are chosen. Features
	// with a = 0 come last.
	Floor float64
	Power float64 // p, above 0 and at most 1; 0 means 0.9
}

// Validate reports every fault of o for d features in one *stream.UsageError.
func (o Options) Validate(d int) error {
	var faults stream.Faults
	method.RefuseNumber(&faults, o.K, d)
	method.RefuseKept(&faults, o.Keep, o.K, d)
	choice := method.Choice{Forbid: o.Forbid}
	choice.Refuse(&faults, d)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	if !(o.Floor >= 0 && o.Floor < 1) {
		faults.Addf("the novelty floor is %v: want 0 to below 1", o.Floor)
	}
	if !(o.Power >= 0 && o.Power <= 1) {
		faults.Addf("the power of the alignment is %v: want 0 to 1", o.Power)
	}
	return faults.Err("")
}

func (o Options) withDefaults(d int) Options {
	o.K = min(cmp.Or(o.K, max(min(defaultK, d), len(o.Keep))), d-len(o.Forbid))
	o.Power = cmp.Or(o.Power, defaultPower)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o
}
