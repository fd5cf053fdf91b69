// Package deltatwin reads a version of a Delta table in the dullest way: everything in memory, one file after another,
// by Arrow's Parquet reader. It shares no code with this program but that library, and is the twin that tests compare it
// with. It follows https://github.com/delta-io/delta/blob/master/PROTOCOL.md, and trusts the table: damage and missing
// files are errors without a remedy, features of the protocol are not checked.
package deltatwin
