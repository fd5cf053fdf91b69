// Package trust says whether a choice on the anchor graph can be trusted, without labels.
//
//  1. The anchors, which are rows of the data or centres of such, make a graph among themselves,
//     and package align chooses features by it. That their alignment with the graph is high says
//     little: a graph of few rows in many columns follows some of them by chance, and is made of them.
//  2. So the same is done with a copy of the anchors whose columns are permuted each by itself. It
//     has the same distributions, but nothing goes together. What is reached there is chance.
//
// The columns of XᵀX are made as they are chosen: no d×d matrix is there.
package trust
