// Package anchor relates n rows to m anchors in one pass, and keeps the graph of the rows in small matrices for
// selectors.
//
//  1. A [Sampler], during the profile pass, keeps the rows whose positions have the lowest
//     hashes. These rows do not depend on shards or threads.
//  2. [Random], [KMeans] or [FromSource] make [Anchors] from rows: points that are filled and
//     scaled by the profile of the whole table.
//  3. [Statistics] find the K nearest anchors of every row and compute the row's weights on
//     them in closed form. They sum Zᵀ1, ZᵀX and ZᵀZ, with Z the matrix of weights. Statistics
//     of parts of a table can be merged. They can be written, read back and continued without
//     a change in any bit.
//  4. With the Gram matrix of package gram the sums become a [Graph]. [Graph.Smooth] computes
//     from it the target of the method graphgreedy.
//  5. If the Gram matrix does not fit in memory, [Graph.Estimate] computes a part of it from
//     the graph, and estimates the rest from sketches of the rows and of Z.
//
// Source: Hu, Wang, Nie et al., "Scalable and flexible unsupervised feature selection" (SFUFS). Z is eq. (2.13), and
// the graph is eq. (2.6).
//
// # Graph greedy
//
// This method is ours. [greedy.SelectTarget] chooses the columns of X that best reconstruct any target T, from G = XᵀX
// and H = TᵀX alone (Farahat et al., Theorem 3, whose proof holds for any T). Our target is T = AᵗX̃, the centred data
// X̃ smoothed t times on the anchor graph. The matrix A = BBᵀ replaces a row by an average of the rows that share its
// anchors. Differences within a neighbourhood then count less than differences between neighbourhoods. As A is
// symmetric,
//
//	H = TᵀX̃ = X̃ᵀAᵗX̃ = X̃ᵀB(BᵀB)^(t−1)BᵀX̃ = CᵀS^(t−1)C,  t ≥ 1,
//
// The greedy scores begin with f⁰ᵢ = ‖Tᵀxᵢ‖² = ‖H₍:,i₎‖² and g⁰ᵢ = Gᵢᵢ. Let P_S be the projection on the chosen columns
// S. Each chosen column lowers the error F(S) = ‖T − P_S T‖² by its score f/g, beginning with ‖T‖² = tr(X̃ᵀA²ᵗX̃) =
// tr(CᵀS^(2t−1)C). So the whole curve of F needs no other product. With t = 0 the method is plain greedy selection on
// centred data.
//
// [greedy.SelectTarget]: https://pkg.go.dev/github.com/ufs-stream/ufs-stream/greedy#SelectTarget
package anchor
