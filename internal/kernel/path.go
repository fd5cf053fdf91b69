package kernel

import (
	"fmt"
	"os"
	"strings"
)

// PathVariable is the environment variable that selects one of the [InstructionSets], for
// tests and comparisons.
const PathVariable = "UFS_STREAM_KERNEL"

// isa is the code for one instruction set.
type isa struct {
	name   string
	f64    micro[float64]
	f32    micro[float32]
	whole  integers
	coarse coarseCode

	// dot is [Dot], axpy is [Axpy], and gather is the loop of [SparseGemm]. To each row j of c (rows ldc apart, width
	// long) gather adds weights[e]·x[rows[e]·ldx:] for e from starts[j] up to starts[j+1], in order. rows and weights
	// begin with entry starts[0].
	dot    func(x, y []float64) float64
	axpy   func(alpha float64, x, y []float64)
	gather func(columns int, starts, rows *int32, weights, x *float64, ldx, width int, c *float64, ldc int)
	// squares returns Σ (x_i − y_i)² over blocks·8 elements, and the same for z. It forms 8 sums, each of every 8th
	// term, with each operation rounded, and adds them as ((0+4)+(2+6)) + ((1+5)+(3+7)). It may prefetch nextY and
	// nextZ, which are compared next, because the processor does not prefetch them by itself.
	squares func(blocks int, x, y, z, nextY, nextZ []float64) (xy, xz float64)
	// narrow writes, for i < 4 and l < k, x = src[i+l*stride] to raw[i*long+l], and
	// x′ = (x − shift[l])·scale as float32 to dst[l*width+i]; it adds x′² to squares[i].
	// Nil means plain Go.
	narrow func(k int, src *float64, stride int, shift *float64, scale float64, dst *float32, width int, raw *float64, long int, squares *[4]float64)
	// lowest finds, for each of the rows of c (ldc apart), the lowest bounds over n anchors. n is at most group, and
	// a number of whole tiles. With b = loose[i]·slack[j] it lowers uppers[i][j mod upperSets] to c[i,j] + b, and sets
	// lowers[i*groups] to the least c[i,j] − b. No argument may be NaN. Each operation is rounded.
	lowest func(rows int, c *float32, ldc int, slack *float32, n int, loose *float32, uppers *[upperSets]float32, lowers *float32, groups int)
	// below returns the first j in [from, n) for which c[j] − norm·slack[j] > limit is false, or n. It may read
	// readBeyond elements after n.
	below func(c, slack []float32, norm, limit float32, from, n int) int
	// within is isa.findAnchors for n anchors, a multiple of group. Nil means that findAnchors uses below.
	within func(n int, c, slack, lowers *float32, room, limit float32, found *foundAnchors) int
	// shift is [ShiftColumn] for blocks·16 elements. ends contains the smallest value so far four times, and then the
	// largest four times. It prefetches as many elements from next on. Nil means plain Go.
	shift func(blocks int, dst, x *float64, by float64, next *float64, ends *[8]float64)
	// standardize is [Standardize] for blocks·16 elements, and prefetches as many from next on. Nil means plain Go.
	standardize func(blocks int, dst, x *float64, shift, factor, missing float64, next *float64)
	// lookup is [Lookup] for groups of 8 numbers that begin at packed; width/2 + 16 bytes from the start of each
	// group may be loaded. It returns the number of groups before the first group with a number of at least size. Nil
	// means plain Go.
	lookup func(groups int, packed *byte, width int, how *[17]uint64, table *float64, size int, dst *float64) int
	// finite is [AllFinite] for blocks·16 elements. Nil means plain Go.
	finite func(blocks int, x *float64) bool
	// wholeRange is [WholeRange] for blocks·16 numbers. The next five fields likewise are functions of similar names.
	// Nil means plain Go.
	wholeRange func(blocks int, x *float64) (least, most int32, ok bool)
	lowBytes   func(blocks int, src *float64, dst *byte)
	ofBytes    func(blocks int, src *byte, dst *float64)
	allSingles func(blocks int, x *float64) bool
	singles    func(blocks int, src *float64, dst *float32)
	ofSingles  func(blocks int, src *float32, dst *float64)
	// rotate is [RotateRows]. The next row of the panel is step elements after the current row.
	rotate func(n int, c, s, panel *float64, step int)
}

// paths are the instruction sets of this machine, from the best to plain Go.
var paths = append(machinePaths(), &goPath)

// best is the instruction set of all teams. forceErr is set if [PathVariable] names one that is not available.
var best, forceErr = choosePath(os.Getenv(PathVariable))

func choosePath(name string) (*isa, error) {
	if name == "" {
		return paths[0], nil
	}
	for _, p := range paths {
		if p.name == name {
			return p, nil
		}
	}
	return paths[0], fmt.Errorf("%s=%s: this machine and build have %s", PathVariable, name, strings.Join(InstructionSets(), ", "))
}

// InstructionSet returns the name of the instruction set in use, and an error if [PathVariable] names one that is not
// available.
func InstructionSet() (string, error) { return best.name, forceErr }

// InstructionSets returns the names of the instruction sets that this machine and build have.
func InstructionSets() []string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = p.name
	}
	return names
}
