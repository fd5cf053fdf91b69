// Package baseline scores features one by one, as a baseline for other selectors: by their variance, at random, or by
// how closely they follow the graph of the rows.
//
//  1. gram.Profile gathers mean and spread of each column in one pass, enough for
//     Variance and Random; package anchor gathers a Graph, for LaplacianScore and MCFS;
//  2. one of them gives every feature a score;
//  3. Rank sorts them, or RankLowest if low scores are good.
//
// The two methods on the graph are by He, Cai and Niyogi (Laplacian score for feature selection, NIPS 2005) and by Cai,
// Zhang and He (Unsupervised feature selection for multi-cluster data, KDD 2010). In the papers the graph connects the
// nearest rows; we use the anchor graph.
package baseline
