// Package scan makes passes over the standardized rows of a source, which are never stored together unless they are
// sparse and fit into memory.
//
//  1. A [Reader] makes a [Pass], which adds up sums over a [Block] of rows at a time, or loads them from a checkpoint.
//  2. The methods of the reader add the products of a block: rows and columns of G, products with vectors, and sums of
//     groups of features.
//  3. A [Sketch] compresses the rows, to predict which features will be chosen next.
package scan
