// Package sogfs ranks features by a projection of the rows that is found together with a graph of them: Nie, Zhu and Li,
// "Unsupervised feature selection with structured graph optimization" (SOGFS, AAAI 2016).
//
// X is the n×d matrix of the rows xᵢ, W (d×m) the projection, and S the n×n similarities of the rows. The Laplacian of S
// is L = D − (S + Sᵀ)/2, with D the diagonal matrix of the row sums of (S + Sᵀ)/2. SOGFS minimizes
//
//	Σᵢⱼ(‖Wᵀxᵢ − Wᵀxⱼ‖² s_ij + α s_ij²) + γ‖W‖₂,₁
//	subject to WᵀW = I, Σⱼ s_ij = 1, s_ij ≥ 0, and L has the rank n − c.
//
// So the graph has exactly c connected components, one for each cluster. The sum of the c smallest eigenvalues of L, the
// minimum of Tr(FᵀLF) over FᵀF = I, takes the place of the rank:
//
//	Σᵢⱼ(‖Wᵀxᵢ − Wᵀxⱼ‖² s_ij + α s_ij²) + γ‖W‖₂,₁ + 2λ·Tr(FᵀLF).
//
// The first S is that of the features themselves, and α follows from it (similarity.go). Then three steps are repeated:
//
//  1. Row sᵢ of S becomes the point of the simplex nearest to −dᵢ/(2α), with d_ij = ‖Wᵀxᵢ − Wᵀxⱼ‖² + λ‖fᵢ − fⱼ‖².
//  2. W becomes the m eigenvectors of XᵀLX + γ/2·D with the smallest eigenvalues, D_ii = 1/(2√(‖wᵢ‖² + ε)) from the
//     previous W (package rowsparse).
//  3. F becomes the c eigenvectors of L with the smallest eigenvalues. λ is doubled if the graph has fewer than c
//     components, and halved if it has more.
//
// Features are ranked by the norms ‖wᵢ‖ of the rows of W. For one λ no step can raise the objective; the program checks
// this. α Σ s_ij² is counted as α Σ(s_ij − 1/k)² over the k entries of a row, which is less by a constant and does not
// hide the other terms. The iteration has converged if the graph has c components, or more, and the objective hardly changes.
//
// # On anchors
//
// L and F have the order of the rows. Therefore the method works on anchors that are rows held in memory: all rows, or a
// seeded sample of them. On these it solves the paper's own problem.
//
// # Departures
//
// We had a program (its port in AutoUFSTool), and descriptions of the method in later papers, but not the text of this
// one.
//
// A row of S has at most k entries, as in the program, so that S is n·k numbers. The best ones are for the k smallest
// d_ij. The program takes the k rows nearest by X at first and by Wᵀx later, without F, so that its objective may rise.
//
// The program repeats step 2 up to 100 times in a round. Here 3 times are enough, as each round continues from the
// previous W. The program minimizes Tr(WᵀXᵀLXW) + γ‖W‖₂,₁ in step 2, half of the first sum. So our γ is twice its γ.
//
// The program counts components by eigenvalues below 1e-9, and ends as soon as there are c. Here they are counted in the
// graph itself. If there are c or more, F consists of the indicators of the c largest. If there are more, the program
// keeps the previous F instead, which does not minimize Tr(FᵀLF).
//
// As WᵀW = I does not involve the data, features that hardly vary have a low cost, and by default all columns are scaled
// to equal length, as in the program. Their mean squared length is 1, so that γ has one meaning for any number of rows. If features outnumber rows, W finds directions in which all rows are equal. Values
// of Wᵀx below 1e-12 of the longest row count as 0, so that rounding does not choose the neighbours.
//
// The paper tunes γ and m with labels. Our γ is 0.01, and m is c. With γ = 0.1 and more, W is nearly a choice of m
// features, so that little distinguishes the norms of the others.
package sogfs
