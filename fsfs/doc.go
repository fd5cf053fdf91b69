// Package fsfs keeps one feature of each group of similar ones: Mitra, Murthy and Pal, "Unsupervised feature selection
// using feature similarity" (FSFS, IEEE PAMI 24, 2002), from the covariances of the columns alone.
//
// The dissimilarity of two features is the maximal information compression index, the smaller eigenvalue of their 2×2
// covariance matrix,
//
//	λ₂(x, y) = ½·(v_x + v_y − √((v_x − v_y)² + 4·cov²)),
//
// the error of replacing both by their best common direction, 0 if one is a multiple of the other. It is invariant to
// rotation and shift, but not to the features' scale.
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
// The paper sorts all features by λ₂ for each feature, d² numbers. After the first turn only pairs within ε matter. No
// feature has k of them, unless its k-th nearest is at exactly ε, so the k of the next turn is the largest number of
// neighbours within ε, and the feature with that number discards them all: degrees in the graph of these pairs decide,
// and λ₂ only between equal degrees. λ₂ is at most the smaller variance, so ε is at most about the least variance, and
// if variances differ that graph is small. The graph holds as many of the nearest pairs as fit, found in one pass over
// blocks of products of columns (products.go); for a first k beyond it, passes over the pairs of the open features
// replace it until the remaining pairs fit (crowd.go). The choice does not depend on the memory.
//
// # The number of features
//
// The paper takes the first neighbourhood k as given, and returns all remaining features. Here the number of features K
// is given: bisection finds the largest first k that leaves at least K, and the result is the first K of those left:
// the features kept in step 2 in the order of their turns, then those of step 4 by λ₂ to their nearest feature of all.
// As a larger neighbourhood nearly always, but not always, leaves fewer features, another k may come closer.
//
// A kept feature takes no further part in step 2, as in the paper's text ("until all of them are either selected or
// discarded"), while its listing leaves the feature in. Of two features with equal distances to their k-th nearest the
// one with the nearer neighbours goes first, then column order decides (order.go). Covariances are the same to the bit
// for equal columns and for (i, j) and (j, i), so such ties are exact; if λ₂ is equal by symmetry alone, as for words
// that occur once, rounding may decide, and then G in full and as a factor choose differently.
package fsfs
