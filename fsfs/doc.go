// Package fsfs keeps one feature of each group of alike ones: Mitra, Murthy and Pal, "Unsupervised
// feature selection using feature similarity" (FSFS, IEEE PAMI 24, 2002), from the covariances of
// the columns alone.
//
// How little two features differ is the maximal information compression index, the smaller
// eigenvalue of their 2×2 covariance matrix,
//
//	λ₂(x, y) = ½·(v_x + v_y − √((v_x − v_y)² + 4·cov²)),
//
// the error of replacing both by their best common direction, 0 where one is a multiple of the
// other. Rotation and shift leave it alone, the features' scale does not.
//
//  1. find the features near to each, by λ₂ (graph.go);
//  2. of the features not decided yet, keep the one whose k-th nearest is nearest, r, and
//     discard these k (eliminate.go);
//  3. the first r is ε. From then on k is lowered until some feature has its k-th nearest
//     within ε, and to the number of features left less one; on to 2;
//  4. at k = 1 all that are left are kept.
//
// # What is held
//
// The paper sorts all features by λ₂ for each, d² numbers. After the first turn only pairs within ε
// matter. No feature has k of them there, unless its k-th nearest is at ε itself, so that the k of the next turn is the
// largest number of neighbours within ε, and who has it discards them all: degrees in the graph
// of these pairs decide, and λ₂ only where degrees are equal. λ₂ is at most the smaller variance, so ε is at
// most about the least one, and where features vary unequally that graph is small. The graph holds as
// many of the nearest pairs as there is room for, found in one pass over blocks of products of columns
// (products.go); where a first k reaches beyond it, passes over the pairs of the open features take
// its place until the rest fits (crowd.go). What is chosen does not depend on the room.
//
// # What k features means
//
// The paper chooses the neighbourhood k of the first step, and takes what remains. Here the
// number of features wanted, K, is given: we look by bisection for the largest first k that
// leaves at least K, and take the first K of what it leaves, those kept in step 2 in the order
// of their turns, then those of step 4 by λ₂ to their nearest feature of all. As a larger
// neighbourhood leaves fewer features nearly always, but not always, another k may come closer.
//
// A feature that is kept takes no more part in step 2: so the paper's text has it ("until all of
// them are either selected or discarded"), while its listing leaves the feature in. Of two
// that are each other's k-th nearest the one with the nearer features goes first, then column
// order decides (order.go). Covariances are the same to the bit for equal columns and for (i, j) and (j, i), so such ties are
// exact; where λ₂ is equal by symmetry alone, as of words that occur once, rounding may decide, and G in full and as a
// factor then choose differently.
package fsfs
