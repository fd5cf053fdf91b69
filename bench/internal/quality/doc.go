// Package quality is the verb quality, which decides about defaults: every method on every labelled
// set, ranked and tested. No label takes part in a choice, and no figure is made by hand:
//
//  1. findSets lists the labelled Parquet files of the folders (sets.go) with their kinds (groups.go),
//     and makes generated ones whose answer is known (kinds.go and lakes.go have what each asks,
//     made.go makes them).
//  2. fill runs each variant (variants.go) on each set, by package ufs (run.go, choose.go), also
//     on complementary halves of the rows (halves.go), and judges the choices by internal/judge
//     (judge.go).
//  3. Each finished pair is a line of a file (findings.go), and not run again.
//  4. tabulate ranks the variants within each set and tests the mean ranks by internal/judge
//     (tables.go); demands.go holds the default to what is asked of it; lakes_table.go, markdown.go
//     and write.go write.
//
// A further method takes part once it is in methods.All, a further variant by a line in
// namedVariants.
package quality
