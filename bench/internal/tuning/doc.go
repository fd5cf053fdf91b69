// Package tuning runs the verbs of ufs-stream that select and judge features, and chooses settings of methods by the
// labels, as papers do.
//
//  1. A [Runner] runs each command once, and keeps its output in a folder, so that an interrupted run continues.
//  2. [Runner.SelectFeatures] makes a selection, [Runner.JudgeSelections] scores selections by the labels of a [Set].
//  3. [Runner.TuneMethod] solves the grids of a [Method] by path, judges every setting, chooses the best by the labels, and
//     runs it again with fresh seeds. For comparison it does the same with as many random selections, and runs the
//     method's default, which sees no labels.
//  4. [CompareRuns] tests whether the scores of two of these differ.
package tuning
