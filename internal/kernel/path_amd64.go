//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// machinePaths asks the processor. AVX-512 needs no more than its foundation here;
// x/sys/cpu has made sure that the system saves the registers.
func machinePaths() []*isa {
	var found []*isa
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		if cpu.X86.HasAVX512F {
			found = append(found, &avx512)
		}
		found = append(found, &avx2)
	}
	return found
}

// Tiles are 8×3 and 4×3 vectors: of the shapes whose sums fit the 32 and 16 registers
// these load the fewest bytes for a multiplication and have panels of multiples of 4.
var avx512 = isa{
	name: "avx512",
	f64:  micro[float64]{mr: 8, nr: 24, mul: mulF64AVX512, transpose: transposeF64AVX2, copy: copyF64},
	f32:  micro[float32]{mr: 8, nr: 48, mul: mulF32AVX512, transpose: transposeF32AVX2, copy: copyF32},
}

var avx2 = isa{
	name: "avx2",
	f64:  micro[float64]{mr: 4, nr: 12, mul: mulF64AVX2, transpose: transposeF64AVX2, copy: copyF64},
	f32:  micro[float32]{mr: 4, nr: 24, mul: mulF32AVX2, transpose: transposeF32AVX2, copy: copyF32},
}

func copyF64(k int, src *float64, stride int, dst *float64, width int) {
	copyAVX2(k, (*byte)(unsafe.Pointer(src)), 8*stride, (*byte)(unsafe.Pointer(dst)), width/2)
}

func copyF32(k int, src *float32, stride int, dst *float32, width int) {
	copyAVX2(k, (*byte)(unsafe.Pointer(src)), 4*stride, (*byte)(unsafe.Pointer(dst)), width/4)
}
