// Package fsfs keeps one feature of each group of similar ones: Mitra, Murthy and Pal, "Unsupervised feature selection
// using feature similarity" (FSFS, IEEE PAMI 24, 2002), using only the covariances of the columns.
//
// The dissimilarity of two features is the maximal information compression index, the smaller eigenvalue of their 2×2
// covariance matrix,
//
//	λ₂(x, y) = ½·(v_x + v_y − √((v_x − v_y)² + 4·cov²)),
//
// the error of replacing both features by their best common direction. It is 0 if one feature is a multiple of the
// other. It is invariant to rotation and shift, but not to the features' scale.
//
//  1. find the features near to each, by λ₂ (graph.go);
//  2. of the undecided features, keep the one with the least λ₂ to its k-th nearest, r, and
//     discard these k (eliminate.go);
//  3. the first r is ε. From then on k is lowered until some feature has its k-th nearest
//     within ε, and to at most the number of undecided features less one; back to 2;
//  4. at k = 1 all undecided features are kept.
//
// # Memory
//
// The paper sorts all features by λ₂ for each feature, which needs d² numbers. But after the first turn only pairs
// within ε matter. No feature has k such pairs, unless its k-th nearest feature is at exactly ε. So the k of the next
// turn is the largest number of neighbours within ε, and the feature with that number discards all of them. The degrees
// in the graph of these pairs therefore determine the turns, and λ₂ is needed only to order features of equal degree.
// λ₂ is at most the smaller variance, so ε is at most about the least variance, and if variances differ the graph is
// small. The graph holds as many of the nearest pairs as fit. They are found in one pass over blocks of products of
// columns (products.go). If the first k is too large for the graph, passes over the pairs of the open features replace
// it until the remaining pairs fit (crowd.go). The choice does not depend on the memory.
//
// # The number of features
//
// In the paper the first neighbourhood k is given, and all remaining features are returned. Here the number of features
// K is given: bisection finds the largest first k that leaves at least K features, and the result is the first K of
// those. The features kept in step 2 come first, in the order of their turns, then the features of step 4 by λ₂ to
// their nearest feature of all. As a larger neighbourhood nearly always, but not always, leaves fewer features, another
// k may leave a number closer to K.
//
// A kept feature is not used again in step 2, as in the paper's text ("until all of them are either selected or
// discarded"); in the paper's listing it remains. Of two features with equal distances to their k-th nearest feature
// the one with the nearer neighbours is kept first, and if these are equal too, column order decides (order.go).
// Covariances have the same bits for equal columns and for (i, j) and (j, i), so such ties are exact. If λ₂ is equal
// only by symmetry, as for words that occur once, rounding errors may decide, and then a full G and a factor of G give
// different choices.
package fsfs
