// Package fsfs groups similar features and keeps one feature of each group, using only the covariances of the columns:
// Mitra, Murthy and Pal, "Unsupervised feature selection using feature similarity" (FSFS, IEEE PAMI 24, 2002).
//
// The dissimilarity of two features is the maximal information compression index, the smaller eigenvalue of their 2×2
// covariance matrix,
//
//	λ₂(x, y) = ½·(v_x + v_y − √((v_x − v_y)² + 4·cov²)),
//
// which is the error of replacing both features by their best common direction. It is 0 if one feature is a multiple of
// the other. It is invariant to rotation and shift, but not to the features' scale.
//
//  1. For each feature, find the nearest features by λ₂ (graph.go).
//  2. Of the undecided features, keep the feature with the least λ₂ to its k-th nearest
//     undecided feature, and discard these k nearest features (eliminate.go).
//  3. The first such λ₂ is ε. From then on k is lowered until some feature has its k-th nearest feature
//     within ε, and to less than the number of undecided features. Then repeat step 2.
//  4. At k = 1 all undecided features are kept.
//
// # Memory
//
// The paper sorts all features by λ₂ for each feature, which needs d² numbers. A turn is one execution of step 2. After
// the first turn, only pairs with λ₂ ≤ ε matter. No feature has k such pairs, unless its k-th nearest feature is at
// exactly ε. So the k of the next turn is the largest number of neighbours within ε, and the feature with that number
// discards all of them. The turns therefore follow from the degrees in the graph of these pairs, and λ₂ only orders
// features of equal degree. λ₂ is at most the smaller variance, so ε is at most about the least variance, and if
// variances differ the graph is small. The graph holds as many of the nearest pairs as fit. They are found in one pass
// over blocks of products of columns (products.go). If the first k is too large for the graph, passes over the pairs of
// undecided features are made until the remaining pairs fit (crowd.go). The choice does not depend on the memory.
//
// # The number of features
//
// In the paper the first k is given, and all remaining features are returned. Here the number K of features is given.
// Bisection finds the largest first k that leaves at least K features, and the result is the first K of the remaining
// features. Features kept in step 2 come first, in the order of their turns. Features of step 4 follow, in ascending
// order of λ₂ between each of them and its nearest feature, which may be a discarded one. A larger first k nearly
// always leaves fewer features, but not always, so another k may leave a number closer to K.
//
// A kept feature is not used again in step 2, as in the paper's text ("until all of them are either selected or
// discarded"); in the paper's listing it remains. If two features have equal distances to their k-th nearest feature,
// the feature with the nearer neighbours is kept first. If these are equal too, column order decides (order.go).
// Covariances have the same bits for equal columns and for (i, j) and (j, i), so such ties are exact. If λ₂ is equal
// only by symmetry, as for words that occur once, rounding errors may decide. Then a full G and a factor of G give
// different choices.
package fsfs
