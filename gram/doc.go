// Package gram accumulates the mergeable moments of a table, one chunk of rows at a
// time, and turns them into the Gram matrix that selectors work on.
//
//  1. Every column's first observed value becomes its pilot, and sums are of x - pilot.
//     The identity that removes the pilot is exact, and subtracts numbers of the size of
//     the column's spread, not of its mean.
//  2. Missing entries (NaN) enter as the pilot. Columns with missing entries also keep
//     sums with an indicator of these entries, from which any later filling follows exactly.
//  3. States add up: Merge moves one state's sums to the other's pilots. A state can
//     be written, read back and continued without a change in any bit.
//  4. Finish fills, leaves out the columns that cannot be features, scales, and
//     copies the upper triangle to the lower one, in the memory of the sums.
//
// Histograms for ranks, which have more bins, give [Scores]. These map values to normal scores of their ranks
// ([ScaleRank]). From ordinary [Histograms] of two tables follows how far a column's values moved from one to the
// other. Moments and Histograms can be discounted, so that older rows weigh less.
//
// [Profile] contains only the O(d) statistics. [Standardizer] applies the same filling and scaling to rows, for tables
// whose d² does not fit into memory. For few rows [Rows] are an exact factor of the Gram matrix G. For many rows a
// [Sketch] is a factor of an estimate of G; the sums of a sketch are the same to the bit in any order of addition.
package gram
