package kernel

import (
	"fmt"
	"os"
	"strings"
)

// PathVariable is the environment variable that selects one of the [InstructionSets], for tests and comparisons.
const PathVariable = "UFS_STREAM_KERNEL"

// isa contains the functions for one instruction set.
type isa struct {
	name    string
	f64     micro[float64]
	f32     micro[float32]
	integer integerCode
	coarse  coarseCode

	// dot implements [Dot], axpy implements [Axpy], and gatherRows implements the inner loop of [SparseGemm]. gatherRows
	// adds weights[e]·x[rows[e]·ldx:], for e from starts[j] up to starts[j+1] in order, to each row j of c (rows ldc
	// apart, width long). rows and weights begin with entry starts[0].
	dot        func(x, y []float64) float64
	axpy       func(alpha float64, x, y []float64)
	gatherRows func(columns int, starts, rows *int32, weights, x *float64, ldx, width int, c *float64, ldc int)
	// squaredDistances returns Σ (x_i − y_i)² over blocks·8 elements, and the same for z. It forms 8 sums, each of every
	// 8th term, with each operation rounded, and adds them as ((0+4)+(2+6)) + ((1+5)+(3+7)). nextY and nextZ are compared
	// next, and may be prefetched, because the processor does not prefetch them by itself.
	squaredDistances func(blocks int, x, y, z, nextY, nextZ []float64) (xy, xz float64)
	// narrowRows writes, for i < 4 and l < k, x = src[i+l*stride] to raw[i*long+l], and x′ = (x − shift[l])·scale as
	// float32 to dst[l*width+i]; it adds x′² to squares[i]. Nil means plain Go.
	narrowRows func(k int, src *float64, stride int, shift *float64, scale float64, dst *float32, width int, raw *float64, long int, squares *[4]float64)
	// lowestBounds finds, for each row i of c (rows ldc apart), the lowest bounds over n anchors j. n is at most group,
	// and fills whole tiles. With b = loose[i]·slack[j] it lowers uppers[i][j mod upperSets] to at most c[i,j] + b, and
	// sets lowers[i*groups] to the smallest c[i,j] − b. No argument may be NaN. Each operation is rounded.
	lowestBounds func(rows int, c *float32, ldc int, slack *float32, n int, loose *float32, uppers *[upperSets]float32, lowers *float32, groups int)
	// firstNotAbove returns the first j in [from, n) for which c[j] − norm·slack[j] > limit is false, or n. It may read
	// readBeyond elements after n.
	firstNotAbove func(c, slack []float32, norm, limit float32, from, n int) int
	// findWithin implements isa.findAnchors for n anchors, a multiple of group. If nil, findAnchors uses firstNotAbove.
	findWithin func(n int, c, slack, lowers *float32, room, limit float32, found *foundAnchors) int
	// shiftColumn does the same as [ShiftColumn] for blocks·16 elements. ends contains the smallest value so far four
	// times, then the largest four times. It prefetches blocks·16 elements from next on. Nil means plain Go.
	shiftColumn func(blocks int, dst, x *float64, by float64, next *float64, ends *[8]float64)
	// standardize is [Standardize] for blocks·16 elements. It prefetches as many elements from next. Nil means plain Go.
	standardize func(blocks int, dst, x *float64, shift, factor, missing float64, next *float64)
	// lookup does the same as [Lookup] for groups of 8 integers, the first at packed. It may load width/2 + 16 bytes from
	// the start of each group. It returns the number of groups before the first group with an integer of at least size.
	// how is an element of lookupPatterns. Nil means plain Go.
	lookup func(groups int, packed *byte, width int, how *[17]uint64, table *float64, size int, dst *float64) int
	// allFinite does the same as [AllFinite] for blocks·16 elements. Nil means plain Go.
	allFinite func(blocks int, x *float64) bool
	// wholeRange does the same as [WholeRange] for blocks·16 numbers. The next five functions likewise do the same as
	// ToLowBytes, FromBytes, AllSingles, ToSingles and FromSingles. Nil means plain Go.
	wholeRange  func(blocks int, x *float64) (least, most int32, ok bool)
	toLowBytes  func(blocks int, src *float64, dst *byte)
	fromBytes   func(blocks int, src *byte, dst *float64)
	allSingles  func(blocks int, x *float64) bool
	toSingles   func(blocks int, src *float64, dst *float32)
	fromSingles func(blocks int, src *float32, dst *float64)
	// rotate does the same as [RotateRows]. Each next row of the panel is step elements after the current row.
	rotate func(n int, c, s, panel *float64, step int)
}

// availableSets are the instruction sets that this machine supports, from the fastest to plain Go.
var availableSets = append(machineInstructionSets(), &plainGo)

// best is the instruction set in use by all teams. forceErr is set if [PathVariable] names one that is not available.
var best, forceErr = chooseInstructionSet(os.Getenv(PathVariable))

func chooseInstructionSet(name string) (*isa, error) {
	if name == "" {
		return availableSets[0], nil
	}
	for _, p := range availableSets {
		if p.name == name {
			return p, nil
		}
	}
	return availableSets[0], fmt.Errorf("%s=%s: this machine and build have %s", PathVariable, name, strings.Join(InstructionSets(), ", "))
}

// InstructionSet returns the name of the instruction set in use, and an error if [PathVariable] names one that is not
// available.
func InstructionSet() (string, error) { return best.name, forceErr }

// InstructionSets returns the names of the instruction sets that this machine and build support.
func InstructionSets() []string {
	names := make([]string, len(availableSets))
	for i, p := range availableSets {
		names[i] = p.name
	}
	return names
}
