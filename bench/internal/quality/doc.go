// Package quality implements the verb quality, which supports decisions about defaults: every method on every labelled
// set, ranked and tested. Labels take no part in a choice, and all figures are computed:
//
//  1. findSets lists the labelled Parquet files of the folders (sets.go) with their kinds (groups.go),
//     and makes generated ones with a known answer (kinds.go and lakes.go describe them,
//     made.go makes them).
//  2. fillFindings runs each variant (variants.go) on each set, by package ufs (run.go, choose.go), also
//     on complementary halves of the rows (halves.go), and scores the choices by internal/judge
//     (judge.go).
//  3. Each finished pair is a line of a file (findings.go), and does not run again.
//  4. tabulateShares ranks the variants within each set and tests the mean ranks by internal/judge
//     (tables.go); demands.go checks the demands on the default; lakes_table.go, markdown.go
//     and write.go write the results.
//
// A method in methods.All takes part by itself, another variant by a line in namedVariants.
package quality
