// Package condition reads conditions on rows, such as
//
//	day >= "2026-01-01" and site in ("a", "b") and not (x < 3 or flag)
//
// into a tree. chunkio evaluates the tree over rows and their statistics, and cmd/ufs-iceberg translates it for the
// statistics in a table's log. [Parse] first rewrites the SQL forms (=, <>, AND, IN (…), IS NULL, 'text') token by
// token (tokens.go). The parser of expr-lang/expr then makes a syntax tree, which is converted to comparisons of one
// column with constants, joined by and, or and not (parse.go, operands.go). Only the parser of expr is used: no expr
// program is compiled or run.
package condition
