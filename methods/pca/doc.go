// Package pca chooses features by their loadings on the leading principal components of the data, from the Gram matrix
// G of the centred columns alone. A component is Xv for a unit eigenvector v of G, and its entries are the loadings of the features.
//
// [SelectLargest] is the method pcalrg, PCA with the largest loadings: Jolliffe, "Discarding variables in a principal
// component analysis I", Applied Statistics 21 (1972), method B4.
//
//  1. Find the K leading components, for K features.
//  2. Each component in turn, the one of the largest variance first, takes the feature of largest absolute loading among
//     those not taken yet.
//
// [SelectPrincipal] is the method pfa, principal feature analysis: Lu, Cohen, Zhou and Tian, "Feature selection using
// principal feature analysis", ACM Multimedia 2007.
//
//  1. Find the q leading components, which have a given share of the variance. A row of their matrix A_q, d×q, belongs
//     to a feature and holds its loadings.
//  2. Cluster the rows of absolute loadings |V_i| into K clusters by k-means.
//  3. From each cluster take the feature whose row is nearest to the mean of the cluster.
//
// # Departures from the papers
//
// If there are fewer components than K, the first component takes a second feature after the last one has taken its
// first, and so on.
// Pfa's paper wants K of at least q, but K is the user's, and may be smaller. The paper does not order the features: here the
// features of large clusters come first. If fewer than K rows differ, there are fewer clusters than K, and so fewer features.
//
// If several eigenvalues are equal, the components are an arbitrary basis of their eigenspace; there is a warning then.
// Loadings and distances that are equal up to 1e-9 are ties. In pcalrg they go to the first column, and in pfa to the
// feature with the smaller loadings, so that its choice does not depend on the order of the columns.
package pca
