package kernel

import (
	"fmt"
	"os"
	"strings"
)

// PathVariable is the environment variable that forces an instruction set of [Paths], for
// tests and comparisons.
const PathVariable = "UFS_STREAM_KERNEL"

// isa is the code for one instruction set.
type isa struct {
	name   string
	f64    micro[float64]
	f32    micro[float32]
	whole  integers
	coarse coarseCode

	// dot is [Dot], axpy [Axpy], and gather the loop of [SparseGemm]: to each of the given number of rows of c (ldc
	// apart, width long) it adds weights[e]·x[rows[e]·ldx:] for e from starts[j] up to starts[j+1], in order; rows
	// and weights begin with entry starts[0].
	dot    func(x, y []float64) float64
	axpy   func(alpha float64, x, y []float64)
	gather func(columns int, starts, rows *int32, weights, x *float64, ldx, width int, c *float64, ldc int)
	// squares is Σ (x_i − y_i)² over blocks·8 elements, and the same for z: 8 sums, of every 8th term, each operation
	// rounded, then added as ((0+4)+(2+6)) + ((1+5)+(3+7)). It may prefetch nextY and nextZ, the next to be compared,
	// beyond the reach of the processor's own prefetching.
	squares func(blocks int, x, y, z, nextY, nextZ []float64) (xy, xz float64)
	// narrow writes, for i < 4 and l < k, x = src[i+l*stride] to raw[i*long+l], and
	// x′ = (x − shift[l])·scale as float32 to dst[l*width+i]; it adds x′² to squares[i].
	// Nil means plain Go.
	narrow func(k int, src *float64, stride int, shift *float64, scale float64, dst *float32, width int, raw *float64, long int, squares *[4]float64)
	// lowest finds, for each of the rows of c (ldc apart), the lowest bounds over n anchors, at most a group, n in
	// whole tiles. With b = loose[i]·slack[j] it lowers uppers[i][j mod upperSets] to c[i,j] + b, and sets
	// lowers[i*groups] to the least c[i,j] − b. None is NaN; each operation is rounded.
	lowest func(rows int, c *float32, ldc int, slack *float32, n int, loose *float32, uppers *[upperSets]float32, lowers *float32, groups int)
	// below returns the first j in [from, n) for which not c[j] − norm·slack[j] > limit, or n. It may read readBeyond
	// elements beyond n.
	below func(c, slack []float32, norm, limit float32, from, n int) int
	// within is isa.findAnchors for n anchors, a multiple of group. Nil means that findAnchors uses below.
	within func(n int, c, slack, lowers *float32, room, limit float32, found *foundAnchors) int
	// shift is [Shift] for blocks·16 elements: ends holds the least so far four times, then the most. It prefetches
	// as many elements from next on. Nil means plain Go.
	shift func(blocks int, dst, x *float64, by float64, next *float64, ends *[8]float64)
	// standardize is [Standardize] for blocks·16 elements, and prefetches as many from next on. Nil means plain Go.
	standardize func(blocks int, dst, x *float64, shift, factor, missing float64, next *float64)
	// lookup is [Lookup] for groups of 8 numbers that begin at packed; width/2 + 16 bytes from the start of each
	// group may be loaded. It returns the number of groups before the first with a number of size or more. Nil means
	// plain Go.
	lookup func(groups int, packed *byte, width int, how *[17]uint64, table *float64, size int, dst *float64) int
	// finite is [Finite] for blocks·16 elements. Nil means plain Go.
	finite func(blocks int, x *float64) bool
	// wholeRange is [WholeRange] for blocks·16 numbers; the next five likewise. Nil means plain Go.
	wholeRange func(blocks int, x *float64) (least, most int32, ok bool)
	lowBytes   func(blocks int, src *float64, dst *byte)
	ofBytes    func(blocks int, src *byte, dst *float64)
	allSingles func(blocks int, x *float64) bool
	singles    func(blocks int, src *float64, dst *float32)
	ofSingles  func(blocks int, src *float32, dst *float64)
	// rotate is [Rotate]: the next row of the panel is step elements further.
	rotate func(n int, c, s, panel *float64, step int)
}

// paths are the instruction sets of this machine, the best first; the last is Go.
var paths = append(machinePaths(), &goPath)

// best is the path of all teams; forceErr is set if [PathVariable] names one that is missing.
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

// InstructionSet returns the name of the instruction set in use, with an error if [PathVariable] asks for a missing one.
func InstructionSet() (string, error) { return best.name, forceErr }

// InstructionSets returns the names of the instruction sets that this machine and build have.
func InstructionSets() []string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = p.name
	}
	return names
}
