//go:build !purego

package kernel

// mulF64NEON implements micro.mul for 4×12 tiles: it adds alpha·A·B to a tile of C.
//
//go:noescape
func mulF64NEON(k int, alpha float64, a, b, c *float64, ldc int)

// mulF32NEON implements micro.mul for 4×24 tiles: it adds alpha·A·B to a tile of C.
//
//go:noescape
func mulF32NEON(k int, alpha float32, a, b, c *float32, ldc int)

// transposeF64NEON implements micro.transpose: it writes four rows of a matrix to a packed panel.
//
//go:noescape
func transposeF64NEON(k int, src *float64, stride int, dst *float64, width int)

// transposeF32NEON implements micro.transpose: it writes four rows of a matrix to a packed panel.
//
//go:noescape
func transposeF32NEON(k int, src *float32, stride int, dst *float32, width int)

// copyNEON implements micro.copy: it copies k runs of 16·units bytes, stride bytes apart, into one run.
//
//go:noescape
func copyNEON(k int, src *byte, stride int, dst *byte, units int)

// dotNEON implements isa.dot, the scalar product, for vectors of 16·blocks + rest elements.
//
//go:noescape
func dotNEON(blocks int, x, y *float64, rest int) float64

// squaresNEON implements isa.squaredDistances: it returns ‖x − y‖² and ‖x − z‖².
//
//go:noescape
func squaresNEON(blocks int, x, y, z, nextY, nextZ *float64) (xy, xz float64)

// gatherNEON implements isa.gatherRows: it adds weighted rows of x to the rows of c; columns and width are at least 1.
//
//go:noescape
func gatherNEON(columns int, starts, rows *int32, weights, x *float64, ldx, width int, c *float64, ldc int)

// narrowNEON implements isa.narrowRows: it centres and scales rows, and packs them as float32.
//
//go:noescape
func narrowNEON(k int, src *float64, stride int, shift *float64, scale float64, dst *float32, width int, raw *float64, long int, squares *[4]float64)

// lowestNEON implements isa.lowestBounds: it finds each row's lowest bounds over n anchors; n is a multiple of 8.
//
//go:noescape
func lowestNEON(rows int, c *float32, ldc int, slack *float32, n int, loose *float32, uppers *[16]float32, lowers *float32, groups int)

// belowNEON implements isa.firstNotAbove: it finds the first bound that is not above the limit. It reads up to 15
// elements beyond n.
//
//go:noescape
func belowNEON(c, slack *float32, norm, limit float32, from, n int) int

// shiftNEON implements isa.shiftColumn: it writes x − by to dst, and tracks the extreme values of x in ends.
//
//go:noescape
func shiftNEON(blocks int, dst, x *float64, by float64, next *float64, ends *[8]float64)

// standardizeNEON implements isa.standardize: it writes (x − shift)·factor to dst, and missing for NaN.
//
//go:noescape
func standardizeNEON(blocks int, dst, x *float64, shift, factor, missing float64, next *float64)

// rotateNEON implements isa.rotate: it applies n plane rotations to neighbouring rows of a panel; n is at least 1.
//
//go:noescape
func rotateNEON(n int, c, s, panel *float64, step int)

// mulIntsNEON implements integerCode.mul for 4×16 tiles: it adds A·B of int16 to a tile of c; pairs is at least 1.
//
//go:noescape
func mulIntsNEON(pairs int, a, b *int16, c *float64, ldc int)

// mulIntsDot implements integerCode.mul for 4×8 tiles: it adds A·B of int16 to a tile of c; pairs is at least 1. It
// needs dot products.
//
//go:noescape
func mulIntsDot(pairs int, a, b *int16, c *float64, ldc int)

// wholesNEON implements integerCode.toInt16: it converts float64 to int16 if all are integers; blocks is at least 1.
//
//go:noescape
func wholesNEON(blocks int, src *float64, dst *int16) (least, most int16, ok bool)

// mulBytesDot implements coarseCode.mul for 8 anchors, of signed bytes; quads is at least 1. It needs
// dot products, which the first version of NEON did not have.
//
//go:noescape
func mulBytesDot(quads int, a, b *byte, step *[lanes]float32, shift *[lanes]int32, half, factor, c *float32, ldc int)

// dotsDot implements coarseCode.dotProducts, of signed bytes; blocks and count are at least 1. It needs
// the dot products of bytes.
//
//go:noescape
func dotsDot(blocks int, x, y *byte, stride int, which *int32, count int, sums *int32)

// flipNEON implements coarseCode.flipSigns: it changes the signs of some dimensions of a panel; n is at least 1.
//
//go:noescape
func flipNEON(n int, x *float32, signs *uint32)

// mixNEON implements coarseCode.mixDimensions: it multiplies dimensions by a Hadamard matrix and a factor.
//
//go:noescape
func mixNEON(n, h, radix int, x *float32, by float32)

// widestNEON implements coarseCode.largestMagnitudes: it finds each lane's largest magnitude; n is at least 1.
//
//go:noescape
func widestNEON(n int, x *float32, most *[lanes]float32)

// quantiseNEON implements coarseCode.quantise: it rounds multiples of each lane's step to bytes; quads is at least 1.
//
//go:noescape
func quantiseNEON(quads int, x *float32, inverse, step *[lanes]float32, dst *byte, rest, squares *[lanes]float32, sums *[lanes]int32)
