// Package cluster groups rows by k-means, in memory or in passes over a stream, and scores a clustering against known
// classes. It is used to judge selections of features, and to place anchors.
//
//  1. [KMeans] chooses first centres by greedy k-means++ and moves them by Lloyd's iteration. Of a
//     number of restarts, it returns the result with the lowest inertia, i.e. the sum of the squared
//     distances of the rows from their centres. Bounds on distances save most of the work without
//     any effect on the result.
//  2. [Refine] iterates over rows that do not fit in memory, from centres found on a sample.
//     In each iteration one [Pass] reads all rows once.
//  3. [Compare] gives accuracy, normalized mutual information, purity and the adjusted Rand
//     index of a clustering.
//
// Spherical k-means, which is meant for texts, uses only the direction of each row.
//
// Sources: Lloyd, Least squares quantization in PCM, IEEE Trans. Inf. Theory 28 (1982);
// Arthur and Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007 (its
// section 5 for the greedy form);
// Elkan, Using the triangle inequality to accelerate k-means, ICML 2003;
// Dhillon and Modha, Concept decompositions for large sparse text data using
// clustering, Machine Learning 42 (2001). [Scores] names the sources of the scores.
// _sklearn/compare compares speed and inertia with scikit-learn's.
package cluster
