//go:build !purego

package kernel

// mulF64NEON is micro.mul for 4×12 tiles.
//
//go:noescape
func mulF64NEON(k int, alpha float64, a, b, c *float64, ldc int)

// mulF32NEON is micro.mul for 4×24 tiles.
//
//go:noescape
func mulF32NEON(k int, alpha float32, a, b, c *float32, ldc int)

// transposeF64NEON is micro.transpose.
//
//go:noescape
func transposeF64NEON(k int, src *float64, stride int, dst *float64, width int)

// transposeF32NEON is micro.transpose.
//
//go:noescape
func transposeF32NEON(k int, src *float32, stride int, dst *float32, width int)

// copyNEON copies k runs of 16·units bytes, stride bytes apart, one after the other.
//
//go:noescape
func copyNEON(k int, src *byte, stride int, dst *byte, units int)

// axpyRowsNEON adds to rows of c (ldc apart), for each of n rows of x (ldx apart, width long) and each of its
// count entries, weight·x: c[index·ldc:]. n and count are at least 1.
//
//go:noescape
func axpyRowsNEON(n, count int, index *int32, weight, x *float64, ldx, width int, c *float64, ldc int)
