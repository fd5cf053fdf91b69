// Package condition parses conditions on rows, such as
//
//	day >= "2026-01-01" and site in ("a", "b") and not (x < 3 or flag)
//
// into a tree of comparisons of one column with constants, joined by and, or and not. It understands the spellings of
// SQL and of Python. chunkio evaluates the tree over rows and their statistics. cmd/ufs-iceberg translates it for the
// statistics in a table's log.
package condition
