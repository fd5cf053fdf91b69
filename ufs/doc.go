// Package ufs is one run of ufs-stream as a library: unsupervised feature selection from
// files too big for memory. Memory does not grow with the number of rows.
//
//	s, err := ufs.Select(ctx, ufs.Request{Inputs: []string{"data/*.parquet"}, K: 50})
//
// A [Request] is plain data. The verbs are [Select], [Plan] (what Select would do and
// cost), [Path] (a curve over k, or a grid of weights), [Scan] and [Merge] (statistics of
// parts, which add up), [Check] and [Diff] (whether a selection still serves new data, and what
// changed to the next one), [Explain] and [Redundancy] (what columns have to do with each other), [Eval],
// [Tree], [Inspect], [Apply], [Convert]. The way of the data:
//
//  1. settle.go checks the request against what its method declares (package method);
//  2. gather.go opens the input, plans its memory (memory.go) and makes the passes that
//     leave a profile, a Gram matrix with a sample of rows, or an anchor graph (graph.go), each pass with a checkpoint
//     on the way (checkpoint.go, checkpoint_pass.go); statistics files (statsfile.go) take the place of passes;
//  3. where no method is named, recommend.go looks at the sample and settles the method and its scale;
//  4. select.go makes the method's evidence of that (evidence.go) and asks it to rank;
//  5. writeup.go writes the ranking up as a stream.Selection.
//
// While a run lasts, the Go runtime has the limits of its request (GOMAXPROCS, the memory
// limit, the pace of the collector). A process has these once: where runs overlap, the last
// one to start sets them.
package ufs
