package kernel

import "unsafe"

// goPath is plain Go: the specification of the assembly, and the way for a processor
// that has none. It rounds each product and each sum, where assembly fuses the two.
var goPath = isa{
	name: "go",
	f64:  micro[float64]{mr: 4, nr: 4, mul: mulGo[float64]},
	f32:  micro[float32]{mr: 4, nr: 4, mul: mulGo[float32]},
}

// mulGo is micro.mul for 4×4 tiles. The conversions forbid the compiler to fuse.
func mulGo[T Float](k int, alpha T, a, b, c *T, ldc int) {
	as, bs := unsafe.Slice(a, 4*k), unsafe.Slice(b, 4*k)
	cs := unsafe.Slice(c, 3*ldc+4)
	// Two halves of the tile: eight sums and six factors are what registers hold.
	for half := 0; half < 4; half += 2 {
		var s00, s01, s02, s03, s10, s11, s12, s13 T
		for l := 0; l+4 <= len(as) && l+4 <= len(bs); l += 4 {
			a0, a1 := as[l+half], as[l+half+1]
			b0, b1, b2, b3 := bs[l], bs[l+1], bs[l+2], bs[l+3]
			s00 += T(a0 * b0)
			s01 += T(a0 * b1)
			s02 += T(a0 * b2)
			s03 += T(a0 * b3)
			s10 += T(a1 * b0)
			s11 += T(a1 * b1)
			s12 += T(a1 * b2)
			s13 += T(a1 * b3)
		}
		for i, s := range [2][4]T{{s00, s01, s02, s03}, {s10, s11, s12, s13}} {
			row := cs[(half+i)*ldc:][:4]
			for j := range row {
				row[j] += T(alpha * s[j])
			}
		}
	}
}
