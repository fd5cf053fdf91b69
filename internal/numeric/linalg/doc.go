// Package linalg solves the matrix problems of the selectors with the fast products of package kernel. It finds the
// smallest eigenpairs of dense symmetric matrices, solves positive definite systems, and computes the polar factor of
// tall matrices. It also makes gonum's LAPACK, which solves all other problems, use the products of kernel.
//
//	Smallest       the l smallest eigenpairs of a sequence of symmetric matrices: block
//	               Davidson, started from the pairs of the previous matrix, with a Cholesky
//	               factor as preconditioner and a count of the eigenvalues as proof
//	Polar          the orthonormal factor U·Vᵀ of a tall matrix in chunks: TSQR, two passes
//	Cholesky       factor and solves, with an error that names the pivot
//	FactorPivoted  the factor of a singular matrix, largest pivot first, and its rank
//	UseKernels     the products of kernel for gonum's blas64 and blas32
//
// A function returns an error for an unsuitable matrix (not finite, not positive definite, not
// tall). Shapes that do not match are a bug of the caller and cause a panic, as in kernel. Results
// are the same to the last bit for any number of workers.
//
// References: Parlett, The Symmetric Eigenvalue Problem (1998), for inertia, residual bounds and inverse iteration;
// Morgan and Scott, Generalizations of Davidson's method (1986), and Knyazev, Toward the optimal preconditioned
// eigensolver (2001), for the iteration; Demmel, Grigori, Hoemmen and Langou, Communication-optimal parallel and
// sequential QR and LU factorizations (2012), for TSQR; Chaitin-Chatelin and Gratton, On the condition numbers
// associated with the polar factorization of a matrix (2000); Gustavson, Recursion leads to automatic variable blocking
// for dense linear algebra algorithms (1997); Golub and Van Loan, Matrix Computations (2013), for the rest.
package linalg
