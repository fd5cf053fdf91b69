// Package where evaluates conditions on rows, such as
//
//	day >= "2026-01-01" and site in ("a", "b") and not (x < 3 or flag)
//
// which package condition has parsed. It works in steps:
//
//  1. [Bind]: every comparison is bound to its column's type (bind.go).
//     A constant that does not fit this type, or could only be compared inexactly, is refused.
//  2. A [State] collects the outcomes that are possible according to the keys of a file's path
//     and the statistics of a row group (state.go, bounds.go). It may decide the condition for all rows.
//  3. [Rows] evaluates the rest, comparison by comparison over whole columns (rows.go).
//
// The logic is the same as in SQL: a comparison with null is unknown, and only rows for which the condition is true
// match. NaN is not equal to any value, and neither below nor above any value. So only != and negated comparisons are
// true for NaN. x == null means "x is null", which is never unknown. The constant 0.1 is the nearest 32-bit float if
// its column holds 32-bit floats, and the exact decimal if its column holds decimals. Texts are compared in the order
// of their bytes. A time without a zone is in UTC if its column is.
package where
