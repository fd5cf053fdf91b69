// Package room makes room for large allocations under a memory limit of the Go runtime
// (debug.SetMemoryLimit).
//
// The runtime starts a collection after the allocation that crosses its goal, not before it. A
// new matrix of 80 MiB is resident together with 80 MiB of garbage, however tight the limit: align
// on 500 × 20,000 took 437 of 417 MiB. So call For before making a large matrix, or before a stage
// that does:
//
//	room.For(8 * int64(m) * int64(d))
//	c := make([]float64, m*d)
package room
