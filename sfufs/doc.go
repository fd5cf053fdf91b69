// Package sfufs ranks features by a sparse projection that keeps neighbours together, from an anchor graph alone: Hu,
// Wang, Nie et al., "Scalable and flexible unsupervised feature selection" (SFUFS), and FUFS, that paper's starting
// point.
//
// X is the n×d data, L the Laplacian of the anchor graph, W a d×l projection and F an
// n×l embedding of the rows. SFUFS minimizes, over W and F,
//
//	Tr(FᵀLF) + α‖XW − F‖² + γ‖W‖₂,₁   subject to WᵀW = I,          eq. (2.3)
//
// FUFS minimizes the same with F = XW, eq. (2.2). The norm ‖wᵢ‖ of row i of W measures how much feature i is needed.
// The best F for a given W is known in closed form, so that the rows of X appear only in one d×d matrix, made from the
// [anchor.Graph]:
//
//  1. M(α), or XᵀLX for FUFS (matrix.go);
//  2. Q = I;
//  3. W = the eigenvectors of M + γQ with the l smallest eigenvalues (solve.go);
//  4. Q_ii = 0.5/√(‖wᵢ‖² + ε), eq. (3.1), ε = 1e-8; go to 3 until the objective settles;
//  5. features in the order of falling ‖wᵢ‖ (result.go).
//
// The paper makes an n×d matrix in step 3 of every iteration. Here [Path] solves further values of α or γ without
// reading rows. The objective, smoothed by ε, cannot rise, and this is checked.
//
// # Dependences of the ranking
//
// W is unique up to a rotation of its columns, which does not change norms, as long as eigenvalues l and l+1 differ.
// If they are equal to the precision of M, the solver's W is one choice among several. It is the same for the same
// Graph to the bit, and a warning reports it. The problem is not convex, and its result depends on the start.
//
// The start matters most if more than l directions cost nothing, for example if features outnumber rows. In the paper,
// rounding then chooses W(1), the W of the first iteration. Here the first Q is computed from the mean of ‖wᵢ‖ over all
// such W (start.go), so that statistics that differ by rounding give the same selection. This is our correction. On ORL
// with γ = 1 the objective ended at 30.7 with it, and at 31.6 and 36.9 without it.
//
// For large γ exactly l rows of W keep norm 1, and the norms of the others are about √ε or less. Norms that agree to
// 1e-7 count as equal and are ranked in column order ([Result]).
//
// # Scatter, which is ours
//
// WᵀW = I does not constrain XW: a feature that hardly varies costs nothing in M and gets
// a row of its own. So near-constant features come first, and small selections are worse
// than random ones. [Scatter], the default, makes W spread the data instead,
//
//	Wᵀ(G/u + ρI)W = I,   u = Tr(G)/d,   ρ = 1e-3,
//
// and M/u replaces M. W then has the l smallest generalized eigenpairs of (M/u + γQ, G/u + ρI); the rest is the same.
// This is not in the paper. Because of the division by u, γ and ε have the same meaning for any units of X. Norms and
// objective are in these units. The table shows the mean NMI of 6 runs of k-means at 2, 5, 10 and 20 % of the
// features, over three draws of min(500, n/4) anchors, with K = 5 and X unscaled:
//
//	          identity, γ = 1       scatter, γ = 0.1      random
//	USPS      5.8  9.3 12.3 20.1    27.9 44.0 52.3 57.2   24.0 35.0 43.0 51.6
//	Isolet   31.8 45.3 55.9 64.0    59.3 67.2 72.5 74.4   48.4 58.5 66.3 69.4
//	ORL      59.2 66.7 71.9 73.6    70.0 73.0 74.7 75.5   67.0 71.9 72.8 72.7
//	COIL20   53.2 60.5 63.6 68.1    70.5 75.4 76.2 76.4   65.6 72.3 72.3 74.4
//
// Between γ = 0.01 and γ = 0.1, scores change less than they differ between data sets. Below 0.003 and above 1 small
// selections suffer, as they do for l = 20 and 40 (Isolet). The agreement of selections from several draws of anchors,
// which needs no labels, does not single out a γ, because it rises with γ. Multiplying norms by the features' standard
// deviations helps at 2 % and harms at 10 %, so it is left out.
//
// # SFESA
//
// Wang, Wang, Nie and Li, "Sparse feature selection via fast embedding spectral analysis" (SFESA, Pattern Recognition
// 2023), minimizes the same Tr(FᵀLF) + α‖XW − F‖² = Tr(WᵀM(α)W), but under WᵀW = I with at most k rows of W that are not
// 0, which are the chosen features ([SelectSubset]). It maximizes Tr(WᵀAW) with A = λI − M and the largest eigenvalue λ
// of M, by the iteration of FSPCA, see [rowsparse.Choice].
//
// Features are in the order of Pᵢᵢ, nearly that of ‖wᵢ‖. The paper starts from a random W. Here the start is P = A, the k
// features with the least M_ii: no seed, and no feature that is better by chance. The start decides: in eight selections
// from ORL and USPS, from this start, from eigenvectors of M and from random features, the iteration never left it,
// because λ is large compared to the differences in M. So the authors' program, which makes one iteration, chooses
// features nearly at random. On both sets such features had the better NMI, and the objective of the other starts was
// at most 10 % lower than here.
//
// The paper's anchors are the means of groups that balanced 2-means makes by dividing the rows in halves, p times. Here
// these are the anchors of {anchor-method} balanced; the default is that of the other methods. The equations are from the authors' program (jymesen-wang/2023-PR-SFESA).
//
// [rowsparse.Choice]: https://pkg.go.dev/github.com/ufs-stream/ufs-stream/internal/numeric/rowsparse#Choice
package sfufs
