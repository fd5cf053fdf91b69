// Package rowsample stores a seeded sample of rows with their values, for methods that iterate over rows: parts of a
// table store their own samples, the samples merge exactly, and a method reads from the file, block by block and bit by
// bit, the same rows as from the table itself.
//
//  1. A [Sample] takes rows in passes over parts of a table, is merged, and written.
//  2. A [Source] reads the file repeatedly, a block at a time. It is the table under a
//     policy for missing entries, reduced to the drawn rows.
//
// A sample is drawn before any policy acts, with missing entries in it by kind, so that every policy has the same
// effect afterwards as on a sample drawn from the data.
package rowsample
