// Package rowsample keeps a seeded sample of rows with their values, for methods that iterate
// over rows: parts of a table keep theirs, the samples merge exactly, and what a method reads
// from the file is, block by block and bit by bit, what it would read of the table itself.
//
//  1. A [Sample] takes rows in passes over parts of a table, merges, and is written.
//  2. A [Source] reads the file again and again, a block at a time. It is the table under a
//     policy for missing entries, with only the drawn rows left.
//
// A sample is drawn before any policy acts, with missing entries in it by kind, so that every
// policy can act afterwards as it would on a sample drawn from the data.
package rowsample
