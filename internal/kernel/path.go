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
	name string
	f64  micro[float64]
	f32  micro[float32]
	// whole multiplies whole numbers.
	whole integers
	// coarse screens anchors in bytes.
	coarse coarseCode

	// dot is [Dot], axpy [Axpy], and gather the loop of [SparseGemm]: to each of so many rows of c (ldc
	// apart, width long) it adds weights[e]·x[rows[e]·ldx:] for e from starts[j] up to starts[j+1], in order; rows and weights
	// begin with entry starts[0].
	dot    func(x, y []float64) float64
	axpy   func(alpha float64, x, y []float64)
	gather func(columns int, starts, rows *int32, weights, x *float64, ldx, width int, c *float64, ldc int)
	// squares is Σ (x_i − y_i)² over blocks·8 elements, and the same for z: 8 sums, of
	// every 8th term, each operation rounded, then added as ((0+4)+(2+6)) + ((1+5)+(3+7)). It may fetch
	// nextY and nextZ, the next to be compared, as far as the processor should not find them itself.
	squares func(blocks int, x, y, z, nextY, nextZ []float64) (xy, xz float64)
	// narrow writes, for i < 4 and l < k, x = src[i+l*stride] to raw[i*long+l], and
	// x′ = (x − shift[l])·scale as float32 to dst[l*width+i]; it adds x′² to squares[i].
	// Nil means plain Go.
	narrow func(k int, src *float64, stride int, shift *float64, scale float64, dst *float32, width int, raw *float64, long int, squares *[4]float64)
	// lowest takes the lowest bounds of a group or less of anchors, n of whole tiles, for each of so many rows of c,
	// ldc apart. With b = loose[i]·slack[j] it lowers uppers[i][j mod upperSets] to c[i,j] + b, and sets
	// lowers[i*groups] to the least c[i,j] − b. None is NaN; each operation is rounded.
	lowest func(rows int, c *float32, ldc int, slack *float32, n int, loose *float32, uppers *[upperSets]float32, lowers *float32, groups int)
	// below returns the first j in [from, n) where not c[j] − norm·slack[j] > limit, or
	// n. It may read readBeyond elements beyond n.
	below func(c, slack []float32, norm, limit float32, from, n int) int
	// within is isa.find for n anchors, a multiple of group. Nil means that it is made of below.
	within func(n int, c, slack, lowers *float32, room, limit float32, found *foundAnchors) int
	// shift is [Shift] for blocks·16 elements: ends are four times the least so far, then the most. It
	// fetches as many elements from next on. Nil means plain Go.
	shift func(blocks int, dst, x *float64, by float64, next *float64, ends *[8]float64)
	// standardize is [Standardize] for blocks·16 elements, and fetches as many from next on. Nil means plain Go.
	standardize func(blocks int, dst, x *float64, shift, factor, missing float64, next *float64)
	// lookup is [Lookup] for groups of 8 numbers that begin at packed, of which each may be loaded with
	// width/2 + 16 bytes. It returns how many groups are before the first that has a number of size or
	// more. Nil means plain Go.
	lookup func(groups int, packed *byte, width int, how *[17]uint64, table *float64, size int, dst *float64) int
	// finite is [Finite] for blocks·16 elements. Nil means plain Go.
	finite func(blocks int, x *float64) bool
	// wholeRange is [WholeRange] of blocks·16 numbers, and so on. Nil means plain Go.
	wholeRange func(blocks int, x *float64) (least, most int32, ok bool)
	lowBytes   func(blocks int, src *float64, dst *byte)
	ofBytes    func(blocks int, src *byte, dst *float64)
	allSingles func(blocks int, x *float64) bool
	singles    func(blocks int, src *float64, dst *float32)
	ofSingles  func(blocks int, src *float32, dst *float64)
	// rotate is [Rotate]: a row of the panel is step elements after the last one.
	rotate func(n int, c, s, panel *float64, step int)
}

// paths are the instruction sets of this machine, the best first; the last is Go.
var paths = append(machinePaths(), &goPath)

// best is the path of all teams, and forceErr why it is not the variable's.
var best, forceErr = choose(os.Getenv(PathVariable))

func choose(name string) (*isa, error) {
	if name == "" {
		return paths[0], nil
	}
	for _, p := range paths {
		if p.name == name {
			return p, nil
		}
	}
	return paths[0], fmt.Errorf("%s=%s: this machine and build have %s", PathVariable, name, strings.Join(Paths(), ", "))
}

// Path is the name of the instruction set in use, with an error if [PathVariable] asks
// for a missing one.
func Path() (string, error) { return best.name, forceErr }

// Paths are the names of the instruction sets that this machine and build have.
func Paths() []string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = p.name
	}
	return names
}
