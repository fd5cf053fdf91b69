// Package where evaluates conditions on rows, such as
//
//	day >= "2026-01-01" and site in ("a", "b") and not (x < 3 or flag)
//
// as package condition reads them. It goes in steps:
//
//  1. [Bind]: every comparison is made one of its column's type (bind.go).
//     A constant that does not fit, or could only be compared inexactly, is refused.
//  2. A [State] collects what is known without reading rows: the keys of a file's path
//     and the statistics of a row group (state.go, bounds.go). It may decide for all rows.
//  3. [Rows] evaluates what is left, comparison by comparison over whole columns (rows.go).
//
// Logic is SQL's: a comparison with null is unknown, and only rows for which the
// condition is true stay. NaN is a value that equals none and is neither below nor above
// any, so that only != and what stands under not are true of it. x == null is x is null,
// which is never unknown. A number is read as its column's type has it: 0.1 is the 32-bit
// float nearest to it where the column holds such, and the exact decimal where it holds
// decimals. Texts are in the order of their bytes; a time without a zone is UTC where the
// column is.
package where
