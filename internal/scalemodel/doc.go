// Package scalemodel estimates the time of a job on N machines, and the N from which on more machines hardly help:
// plain arithmetic over rates that were measured, or are marked as assumed. It neither reads data nor knows a cluster.
//
// For n rows of d features in F files of G row groups, B bytes, on N machines of c cores:
//
//	cpu(profile) = n·d/profile                      decoding, and moments of each column
//	cpu(gram)    = n·d/scan + n·d²/gram             and histograms, and G = Σxxᵀ
//	cpu(graph)   = cpu(gram) + 2·n·m·d/anchors      and the distances to m anchors
//	share(N)     = ⌈G/N⌉/G                          of the machine that has most: row groups are whole
//	open(N)      = ⌈F/N⌉·latency + share·G·d·footer
//	read(N)      = share·B / min(machine, store/N)
//	scan(N)      = start + open + max(share·cpu/c, read) + bytes/machine
//	merge(N)     = start + N·max(part + bytes/merge, bytes/machine, 3/8·latency) + bytes/machine
//	             or, of two levels, 2·start + 2·⌈√N⌉·max(…) + 2·bytes/machine, whichever is less
//	plan         = ⌈F/16⌉·latency + G·d·footer
//	total(N)     = plan + Σ over rounds (scan + merge) + select
//
// A single machine plans, merges and uploads nothing. The time of scanning falls with N until every row group has its
// own machine; merging grows with N, or √N; the rest is constant. So the time has a minimum, and before it a knee: the
// last N up to which each doubling saved at least a tenth.
//
// It ignores machines of unequal speed or that fail, waiting for machines, and that c cores may scan less than c times
// as fast as one.
package scalemodel
