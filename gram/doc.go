// Package gram accumulates the mergeable moments of a table, one chunk of rows at a
// time, and turns them into the Gram matrix that selectors work on.
//
//  1. Every column's first observed value becomes its pilot, and sums are of x - pilot.
//     The identity that removes the pilot is exact, and subtracts numbers of the size of
//     the column's spread, not of its mean.
//  2. Missing entries (NaN) enter as the pilot. Columns with missing entries also keep
//     sums with the indicator of missing, which make any later fill value exact.
//  3. States add up: Merge moves one state's sums to the other's pilots. A state can
//     be written, read back and continued without a change in any bit.
//  4. Finish fills, leaves out the columns that cannot be features, scales, and
//     mirrors, in the memory of the sums.
//
// Finer [Histograms] give [Scores], which map values to normal scores of their ranks ([ScaleRank]). Ordinary
// [Histograms] of a table allow measuring later how far a column has moved since. Moments and Histograms can be
// discounted, so that older rows weigh less.
//
// [Profile] is the O(d) part alone, and [Standardizer] applies the same filling and scaling to rows if d² does not
// fit. For few rows [Rows] are an exact factor of G; for many rows a [Sketch] is a factor of an estimate, whose sums
// add up to the bit in any order.
package gram
