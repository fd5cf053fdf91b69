package blocks

import (
	"github.com/ufs-stream/ufs-stream/stream"
)

// BlockBytes returns the memory that a choice of blocks of at most `largest` features needs in addition to a choice of
// single features, for a target of `rows` rows. If largest is 0, features are chosen one by one.
func BlockBytes(d, rows, largest, threads int) int64 {
	if largest == 0 {
		return 0
	}
	one := 2*int64(largest)*int64(largest) + max(valuesPerPart, minPartWidth*int64(largest))
	return 8 * (int64(d)*int64(rows+3*largest) + 2*int64(largest)*int64(d+rows) + int64(max(threads, 1))*one)
}

// ErrNeedGram returns the error for a choice of blocks without the Gram matrix. remedy is a constant below.
func ErrNeedGram(remedy string) error {
	return stream.Usagef("groups, columns of several features, costs and a budget take the whole Gram matrix or one estimate of it: " + remedy)
}

const (
	// RemedyWithoutGram is the advice for a choice of blocks if G does not fit in memory. If H = G, Γ does not fit
	// either, and a recursion of the gains of blocks would have rounding errors without a known bound.
	RemedyWithoutGram = "raise {memory-limit}, or choose {method} partgreedy, which works on sums of features and reads the rows again"
	// RemedyOnePass is the advice for a choice of blocks by a sketch in several passes.
	RemedyOnePass = "{passes} 1 chooses by the {sketch} alone; or leave {sketch} out"
)
