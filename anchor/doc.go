// Package anchor relates n rows to m anchors in one pass, and keeps the graph of the rows in small matrices for
// selectors.
//
//  1. A [Sampler], during the profile pass, keeps the rows with the lowest hashes of
//     their positions: the same for any shards and threads.
//  2. [Random], [KMeans] or [FromSource] make [Anchors]: points among the rows, filled and
//     scaled by the profile of the whole table.
//  3. [Statistics] find the K nearest anchors of every row and weigh them in closed
//     form; the weights Z leave Zᵀ1, ZᵀX and ZᵀZ. States add up, and can be written,
//     read back and continued without a change in any bit.
//  4. With the Gram matrix of package gram they become a [Graph], and [Graph.Smooth]
//     makes the target of graphgreedy from it.
//  5. If that matrix does not fit, [Graph.Estimate] estimates it: partly from the graph, and
//     for the rest from sketches of the rows and of Z.
//
// Source: Hu, Wang, Nie et al., "Scalable and flexible unsupervised feature selection"
// (SFUFS); Z by its eq. (2.13), the graph by eq. (2.6).
//
// # Graph greedy
//
// This method is ours. [greedy.SelectTarget] chooses the columns of X that best reconstruct any T, from G = XᵀX and H
// = TᵀX alone (Farahat et al., Theorem 3: the proof uses nothing of T). We take T = AᵗX̃, the centred data smoothed t
// times on the anchor graph: A = BBᵀ replaces a row by an average of the rows that share its anchors, so that
// differences within a neighbourhood count less than differences between neighbourhoods. As A is symmetric,
//
//	H = TᵀX̃ = X̃ᵀAᵗX̃ = X̃ᵀB(BᵀB)^(t−1)BᵀX̃ = CᵀS^(t−1)C,  t ≥ 1,
//
// f⁰ᵢ = ‖Tᵀxᵢ‖² = ‖H₍:,i₎‖² and g⁰ᵢ = Gᵢᵢ. A choice lowers F(S) = ‖T − P_S T‖² by its
// score f/g, from ‖T‖² = tr(X̃ᵀA²ᵗX̃) = tr(CᵀS^(2t−1)C): the whole curve of F needs no
// other product. With t = 0 it is plain greedy on centred data.
//
// [greedy.SelectTarget]: https://pkg.go.dev/github.com/ufs-stream/ufs-stream/greedy#SelectTarget
package anchor
