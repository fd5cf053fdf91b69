// Package trust tests whether a choice on the anchor graph is better than chance, without labels.
//
//  1. The anchors, which are rows of the data or centres of rows, make a graph among themselves,
//     and package align chooses features by it. A high alignment with the graph alone proves
//     little: a graph of few rows in many columns follows some columns by chance, as it is made of them.
//  2. So the same is done with a copy of the anchors with every column permuted by itself. It
//     has the same distributions, but no dependence between columns. Its alignment is the level of chance.
//
// The columns of XᵀX are computed when features are chosen, so that a d×d matrix is not stored.
package trust
