// Package outofcore selects features from rows that are read several times, without G in memory.
//
//  1. A plan divides the memory among a sketch of the rows, candidates, and runs of rows of G.
//  2. Passes compute the initial criterion, or the target of Algorithm 2.
//  3. Further passes fetch columns of G for candidates, which a predictor names by simulating turns on the sketch. The
//     choice among all features is exact, and does not depend on the prediction.
package outofcore
