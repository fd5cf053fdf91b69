// Package gram accumulates the mergeable moments of a table, one chunk of rows at a
// time, and turns them into the Gram matrix that selectors work on.
//
//  1. Every column's first observed value becomes its pilot; sums are of x - pilot.
//     The identity that removes the pilot is exact, and what is subtracted is of the
//     size of the column's spread, not of its mean.
//  2. Missing entries (NaN) enter as the pilot. The columns that have any also keep
//     sums with the indicator of missing, from which any fill value is exact later.
//  3. States add up: Merge moves one state's sums to the other's pilots. A state can
//     be written, read back and continued without a change in any bit.
//  4. Finish fills, leaves out the columns that can be no features, scales, and
//     mirrors, in the memory of the sums.
//
// [Profile] is the O(d) part alone, and [Standardizer] applies the same filling and
// scaling to rows where d² does not fit.
package gram
