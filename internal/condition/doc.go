// Package condition reads conditions on rows, such as
//
//	day >= "2026-01-01" and site in ("a", "b") and not (x < 3 or flag)
//
// into a tree that others evaluate (chunkio, over rows and their statistics) or translate (cmd/ufs-iceberg, for
// the statistics in a table's log). [Parse] rewrites the SQL forms (=, <>, AND, IN (…), IS NULL, 'text') token
// by token (tokens.go), the parser of expr-lang/expr makes a tree, and the tree becomes comparisons of one
// column with constants under and, or, not (parse.go, operands.go). Only its parser is used: no expr program is
// compiled or run.
package condition
