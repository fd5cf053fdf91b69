// Package statistics holds the bundle of statistics that passes over the input fill: a profile, the Gram matrix or a
// sketch, an anchor graph, samples and histograms. A table lists the kinds of statistics (kinds.go). Bundles are merged
// (merge.go), written to and read from statistics files (file.go), and kept apart by hash shards of the rows (shards.go).
package statistics
