// Package ufs runs ufs-stream as a library: unsupervised feature selection from files too big for memory.
// Memory does not grow with the number of rows.
//
//	s, err := ufs.Select(ctx, ufs.Request{Input: ufs.Input{Paths: []string{"data/*.parquet"}}, Choice: ufs.Choice{K: 50}})
//
// A [Request] is plain data. The functions are [Select], [Plan] (predicts the steps and cost of Select), [Path]
// (computes a curve over k, or a grid of weights), [Scan] and [Merge] (make statistics of parts of the data, and
// add them up), [Check] and [Diff] (test whether a selection still serves new data, and list the changes between
// two selections), [Explain] and [Redundancy] (report the relations between columns), [Eval], [Tree], [Inspect],
// [Apply], [Convert]. Each lives in a package of its own below ufs/internal. A selection takes these steps:
//
//  1. package settled checks the request against the declaration of its method (package method);
//  2. package planning plans the memory and the passes, from the footers of the input;
//  3. package gathering makes the passes that fill a bundle (package statistics), and saves checkpoints;
//  4. package selecting chooses method and scale if the request does not, makes the method's evidence from the
//     statistics, lets the method rank, and writes the ranking up as a stream.Selection.
//
// During a run, the settings of the Go runtime follow its request (GOMAXPROCS, the memory limit, the pace of the
// collector). A process has only one set of these settings. If runs overlap, the run that starts last sets them.
package ufs
