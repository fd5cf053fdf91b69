// Package target makes the matrix H of which greedy's criterion is computed, and bounds the error of its choices.
//
//  1. [NewData] returns the target of Algorithm 1 or 2 of a Gram matrix, and [New] one that the caller gives.
//  2. [NewSmooth], [NewSpectral] and [NewScatter] make targets from an anchor graph, [NewComponents] from principal components.
//  3. [LeastDataErrors] and its like compute the least error that any directions leave, be they features or not.
//
// A target is a [Matrix] in the form LU, so that no d×d matrix is made if G is a factor.
package target
