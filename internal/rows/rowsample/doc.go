// Package rowsample stores a seeded sample of rows with their values, for methods that iterate over rows. Parts of a
// table store samples of their own, which can be merged exactly. A method then reads the same rows from the file as
// from the table itself, in the same blocks and with the same bits.
//
//  1. A [Sample] collects rows in passes over parts of a table, can be merged with other samples, and is written to
//     a file.
//  2. A [Source] reads the file repeatedly, a block at a time. It delivers the drawn rows of the table, after applying
//     a policy for missing entries.
//
// A sample is drawn before any policy for missing entries is applied, and records the kinds of missing entries. So a
// policy has the same effect on the stored sample as on a sample drawn from the data.
package rowsample
