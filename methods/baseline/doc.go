// Package baseline scores features one by one, as a baseline for other selectors: by their variance, at random, or by
// how closely they follow the graph of the rows.
//
//  1. A pass over the rows gathers statistics: gram.Profile has the mean and spread of each
//     column for Variance and Random, and package anchor has a Graph for LaplacianScore and MCFS.
//  2. One of these four functions gives every feature a score.
//  3. Rank sorts the features by score, or RankLowest if low scores are good.
//
// The two methods on the graph are by He, Cai and Niyogi (Laplacian score for feature selection, NIPS 2005) and by Cai,
// Zhang and He (Unsupervised feature selection for multi-cluster data, KDD 2010). In the papers the graph connects the
// nearest rows; we use the anchor graph.
package baseline
