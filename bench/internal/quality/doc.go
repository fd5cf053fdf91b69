// Package quality implements the verb quality, which supports decisions about defaults. It ranks and tests every method
// on every labelled dataset. Labels are used only for scores, not for choices, unless --tune asks for it:
//
//  1. findSets lists the labelled files of the inputs (sets.go) with their kinds. It also generates
//     datasets with a known right selection (described in kinds.go, made by made.go).
//  2. fillFindings runs each variant (variants.go) on each set, by package ufs (run.go). The selections of other tools
//     are variants too, which are read from files (selections.go). It also runs the variants of methods on complementary
//     halves of the rows (sets.go), and scores the choices by internal/judging/judge (judge.go).
//  3. The result for each set and variant is stored as a line of a file (findings.go), and is not computed again.
//  4. With --tune labels, tuneVariants chooses settings of methods by the labels, by package tuning (tune.go).
//  5. tabulateShares ranks the variants within each set and tests the mean ranks by internal/judging/judge, and checks the
//     demands on the default (tables.go). write.go writes the results.
//
// All methods in methods.All are measured. To measure a method with other settings by default, add a line to
// variantSettings; --methods takes any settings.
package quality
