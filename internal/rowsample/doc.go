// Package rowsample stores a seeded sample of rows with their values, for methods that iterate over rows. Parts of a
// table store their own samples, and the samples can be merged exactly. A method then reads from the file the same rows
// as from the table itself, in the same blocks and with the same bits.
//
//  1. A [Sample] takes rows in passes over parts of a table, is merged, and written.
//  2. A [Source] reads the file repeatedly, a block at a time. It is the table under a
//     policy for missing entries, reduced to the drawn rows.
//
// A sample is drawn before any policy is applied, and records the kinds of missing entries. So a policy has the same
// effect on the stored sample as on a sample drawn from the data.
package rowsample
