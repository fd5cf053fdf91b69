// Package where evaluates conditions on rows, such as
//
//	day >= "2026-01-01" and site in ("a", "b") and not (x < 3 or flag)
//
// which package condition has parsed. It works in steps:
//
//  1. [Bind]: every comparison is bound to its column's type (bind.go).
//     A constant that does not fit, or could only be compared inexactly, is refused.
//  2. A [State] collects the knowledge from before any row is read: the keys of a file's path
//     and the statistics of a row group (state.go, bounds.go). It may decide for all rows.
//  3. [Rows] evaluates the rest, comparison by comparison over whole columns (rows.go).
//
// Logic is SQL's: a comparison with null is unknown, and only rows for which the condition is true stay. NaN equals no
// value and is neither below nor above any, so only != and negated comparisons are true of it. x == null is x is null,
// which is never unknown. A number is read according to its column's type: 0.1 is the nearest 32-bit float if the
// column holds such, and the exact decimal if it holds decimals. Texts are in the order of their bytes; a time without
// a zone is UTC if the column is.
package where
