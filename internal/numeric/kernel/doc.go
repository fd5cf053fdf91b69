// Package kernel contains the fast products that all statistics and selectors use: C += αA·B and G += αA·Aᵀ in float64
// and float32 ([Gemm], [Syrk]), the search for the anchors nearest to rows ([Nearest]), products of a sparse and a
// dense matrix ([SparseGemm]), the look-up of packed indices ([Lookup]), and a few vector loops.
//
//  1. A product is cut into blocks; blocks of A and B are packed into panels, as in
//     BLIS (Van Zee and van de Geijn, ACM TOMS 41:3, 2015; Goto and van de Geijn, ACM
//     TOMS 34:3, 2008). Packing can read matrices of any layout.
//  2. One micro-kernel per element type and instruction set (AVX-512, AVX2 with FMA,
//     NEON, and plain Go) multiplies panels; all other code is common. go generate makes
//     the kernels for amd64 from _asm. The kernels for arm64 are written by hand; neon_arm64.h defines
//     the instructions that Go's assembler does not know.
//  3. Threads of a [Team] share the tasks of packing and multiplying. Each part of the
//     output is written by one thread at a time, and its terms are added in a fixed order.
//
// # Reproducible bits
//
// The bits of an element that Gemm or Syrk writes depend only on its row of A, its column of B and its old value. The
// products are summed in order, in chains of 256 multiply-adds, and each chain is added to the element. So the element
// has the same bits for any number of workers, any position and any neighbours. A NaN or Inf in a row of A or a column
// of B reaches only the same row or column of C. All instruction sets with fused multiply-adds give the same bits.
// Plain Go rounds product and sum separately, and gives other bits. If the inner dimension is divided at multiples of
// 256, several calls give the same bits as one call. SparseGemm adds term by term. Nearest gives the same result on
// every instruction set.
//
// # Layout
//
// Chunks are column-major, because decoders write columns, and centring and statistics read columns. For the products
// the layout hardly matters. Gram matrices of 256 rows were computed from column-major and from row-major chunks: with
// 64, 256 and 896 columns, column-major took 1.13, 1.3 and 0.95 times as long (BenchmarkLayout). Packing transposes
// four columns at a time in registers, and costs only O(n·d) of O(n·d²) operations.
//
// # Choosing an instruction set
//
// The default is the best instruction set that the processor supports (golang.org/x/sys/cpu): avx512vnni, avx512,
// avxvnni or avx2, neondot (NEON with dot products of bytes) or neon, otherwise go. For tests and comparisons, the
// environment variable UFS_STREAM_KERNEL selects another. With the build tag purego only plain Go is compiled.
package kernel
