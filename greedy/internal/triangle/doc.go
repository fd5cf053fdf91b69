// Package triangle computes, for every feature, the sum of squares of its row of G from passes over rows. G is never
// stored: [Passes] computes it in runs of consecutive rows of its upper triangle, or by the entries of sparse rows.
package triangle
