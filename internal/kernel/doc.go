// Package kernel holds the products that every statistic and selector runs on, at the speed of the machine: C += αA·B
// and G += αA·Aᵀ in float64 and float32 ([Gemm], [Syrk]), the anchors nearest to rows ([Nearest]), a sparse matrix
// times a dense one ([SparseGemm]), the look-up of packed indices ([Lookup]), and a few vector loops.
//
//  1. A product is cut into blocks; blocks of A and B are packed into panels, as in
//     BLIS (Van Zee and van de Geijn, ACM TOMS 41:3, 2015; Goto and van de Geijn, ACM
//     TOMS 34:3, 2008). Packing reads any layout.
//  2. One micro-kernel per element type and instruction set (AVX-512, AVX2 with FMA,
//     NEON, and plain Go) multiplies panels; everything else is common. go generate makes
//     the kernels for amd64 from _asm; those for arm64 are written by hand, with the instructions that
//     Go's assembler does not name in neon_arm64.h.
//  3. Threads of a [Team] share the tasks of packing and multiplying. A part of the
//     output has one owner at a time and gets its terms in one order.
//
// # The law of bits
//
// An element that Gemm or Syrk writes depends on its row of A, its column of B and its
// old value alone: chains of 256 multiply-adds, in order, each added to the element. So
// it has the same bits for any number of workers, whatever its position and neighbours; a
// NaN or Inf in a row of A or a column of B reaches only the same row or column of C.
// All instruction sets with fused multiply-adds give the same bits; plain Go, which
// rounds product and sum separately, gives others. Cutting the inner dimension into
// calls at multiples of 256 changes nothing. SparseGemm adds term by term; Nearest is
// the same everywhere.
//
// # Layout
//
// Chunks are column-major: decoders write columns, and centring and statistics read
// them. For the products it hardly matters. A Gram matrix of 256 rows took 1.13,
// 1.3 and 0.95 times as long from columns as from rows with 64, 256 and 896 columns
// (BenchmarkLayout): packing transposes four columns at a time in registers, and costs
// O(n·d) of O(n·d²) anyway.
//
// # Choosing an instruction set
//
// The default is the best that the processor has (golang.org/x/sys/cpu): avx512vnni, avx512, avxvnni or avx2, neondot
// (NEON with dot products of bytes) or neon, else go. The environment variable UFS_STREAM_KERNEL names another, for
// tests and comparisons; the build tag purego leaves only plain Go.
package kernel
