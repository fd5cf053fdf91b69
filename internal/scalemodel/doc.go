// Package scalemodel estimates the time of a job on N machines, and the N above which more machines hardly help. It
// only computes, with rates that are marked as measured or as assumed. It does not read data or use a cluster.
//
// The formulas are for n rows of d features in F files of G row groups, B bytes, on N machines of c cores. profile,
// scan, gram, anchors, merge, machine and store are speeds, and latency, footer, start and part are times (see
// [DefaultRates]). bytes is the size of a part file. core-hour is a price.
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
//	price(N)     = N·scan·c·core-hour
//	total(N)     = plan + Σ over rounds (scan + merge) + select
//
// A single machine does not plan, merge or upload anything. If N grows, the time of scanning falls until every row
// group has its own machine. The time of merging grows with N, or √N. The other times are constant. So the total time
// has a minimum at some N. At a smaller N it has a knee: the last N up to which each doubling of N saved at least a
// tenth of the time.
//
// The model ignores that machines may differ in speed or fail, that jobs may wait for machines, and that c cores may
// scan less than c times as fast as one core.
package scalemodel
