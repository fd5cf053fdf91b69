// Package ufs runs ufs-stream as a library: unsupervised feature selection from files too big for memory.
// Memory does not grow with the number of rows.
//
//	s, err := ufs.Select(ctx, ufs.Request{Inputs: []string{"data/*.parquet"}, K: 50})
//
// A [Request] is plain data. The functions are [Select], [Plan] (predicts the steps and cost of Select), [Path]
// (computes a curve over k, or a grid of weights), [Scan] and [Merge] (make statistics of parts of the data, and
// add them up), [Check] and [Diff] (test whether a selection still serves new data, and list the changes between
// two selections), [Explain] and [Redundancy] (report the relations between columns), [Eval], [Tree], [Inspect],
// [Apply], [Convert]. A selection takes these steps:
//
//  1. settle.go checks the request against the declaration of its method (package method);
//  2. gather.go opens the input, plans its memory (memory.go) and makes the passes that fill a profile,
//     a Gram matrix with a sample of rows, or an anchor graph (graph.go). Each pass saves checkpoints
//     (checkpoint.go, checkpoint_pass.go); statistics files (statsfile.go) replace passes;
//  3. if the request does not name a method, recommend.go chooses method and scale from the sample;
//  4. select.go makes the method's evidence from the statistics (evidence.go) and lets the method rank;
//  5. writeup.go writes the ranking up as a stream.Selection.
//
// During a run, the settings of the Go runtime follow its request (GOMAXPROCS, the memory limit, the pace of the
// collector). A process has only one set of these settings. If runs overlap, the run that starts last sets them.
package ufs
