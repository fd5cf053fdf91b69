// Package cluster groups rows by k-means, in memory or in passes over a stream, and scores a clustering against known
// classes. It serves to judge selections of features, and to place anchors.
//
//  1. [KMeans] seeds the centres by greedy k-means++ and moves them by Lloyd's iteration,
//     restarted as often as asked, for the lowest inertia: the sum of the squared
//     distances of the rows from their centres. Bounds on distances save most of the
//     work and change nothing.
//  2. [Refine] is the iteration over rows that do not fit in memory, from centres
//     found on a sample; one [Pass] reads all rows once.
//  3. [Compare] gives accuracy, normalized mutual information, purity and the adjusted
//     Rand index of a clustering.
//
// Spherical k-means uses only the direction of each row (for text).
//
// Sources: Lloyd, Least squares quantization in PCM, IEEE Trans. Inf. Theory 28 (1982);
// Arthur and Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007 (its
// section 5 for the greedy form);
// Elkan, Using the triangle inequality to accelerate k-means, ICML 2003;
// Dhillon and Modha, Concept decompositions for large sparse text data using
// clustering, Machine Learning 42 (2001). [Scores] names the sources of the scores.
// _sklearn/compare compares speed and inertia with scikit-learn's.
package cluster
