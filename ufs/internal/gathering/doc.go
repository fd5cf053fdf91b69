// Package gathering makes the passes over the input that fill a bundle of statistics (gather.go, pass.go), for a profile,
// a Gram matrix, an anchor graph (graph.go) or rows. Statistics files (fromstats.go) and samples (sampled.go) replace
// passes. Each pass saves checkpoints (checkpoint.go).
package gathering
