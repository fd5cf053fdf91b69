// Package quality implements the verb quality, which supports decisions about defaults. It ranks and tests every method
// on every labelled dataset. Labels are used only for scores, not for choices:
//
//  1. findSets lists the labelled Parquet files of the folders (sets.go) with their kinds (groups.go),
//     and generates datasets with a known right selection (kinds.go and lakes.go describe them,
//     made.go makes them).
//  2. fillFindings runs each variant (variants.go) on each set, by package ufs (run.go, choose.go), also
//     on complementary halves of the rows (halves.go). It scores the choices by internal/judge
//     (judge.go).
//  3. The result for each set and variant is a line of a file (findings.go), and is not computed again.
//  4. tabulateShares ranks the variants within each set and tests the mean ranks by internal/judge
//     (tables.go); demands.go checks the demands on the default; lakes_table.go, markdown.go
//     and write.go write the results.
//
// All methods in methods.All are included. To add another variant, add a line to namedVariants.
package quality
