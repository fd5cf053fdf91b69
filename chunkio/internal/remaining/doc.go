// Package remaining shows a Parquet file without the rows that its table has deleted. Lakes delete rows of a data file
// without writing the file again: they keep the positions of the rows in a bitmap. A File has the groups, rows, bounds
// and digest of a file that never had these rows, so its readers need not know of them. Decoding reads the deleted rows
// too and leaves them out.
package remaining
