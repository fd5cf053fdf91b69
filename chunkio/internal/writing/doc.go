// Package writing writes the rows of a source, or a small table, as Parquet.
package writing
