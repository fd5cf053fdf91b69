// Package condition parses conditions on rows, such as
//
//	day >= "2026-01-01" and site in ("a", "b") and not (x < 3 or flag)
//
// into a tree. chunkio evaluates the tree over rows and their statistics. cmd/ufs-iceberg translates it for the
// statistics in a table's log. [Parse] first replaces the SQL forms (=, <>, AND, IN (…), IS NULL, 'text'), one token at
// a time (tokens.go). The parser of the module expr-lang/expr then builds a syntax tree. This tree is converted to
// comparisons of one column with constants, joined by and, or and not (parse.go, operands.go). The compiler and the
// interpreter of expr are not used.
package condition
