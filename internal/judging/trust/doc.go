// Package trust tests whether a choice on the anchor graph is better than chance, without labels.
//
//  1. The anchors, which are rows of the data or centres of rows, are the nodes of a graph. Package align chooses
//     features by this graph. A high alignment alone proves little: the graph is itself computed from the columns, and
//     if rows are few and columns many, it follows some columns by chance.
//  2. So a graph is also made, and features chosen, from a copy of the anchors in which every column is permuted
//     independently. The columns of the copy have the same distributions but are independent. Its alignment is due to
//     chance.
//
// The columns of XᵀX, X being the anchors, are computed only when features are chosen. So a d×d matrix is not stored.
package trust
