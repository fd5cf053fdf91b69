// Package room makes room for large allocations under a memory limit of the Go runtime
// (debug.SetMemoryLimit).
//
// The runtime starts a collection after the allocation that crosses its goal, not before it. A
// matrix of 80 MiB that is made beside 80 MiB of garbage is resident beside it, however tight the
// limit: align on 500 × 20,000 took 437 of 417 MiB. A run that is about to make a large matrix, or
// to begin a stage that does, says so here:
//
//	room.For(8 * int64(m) * int64(d))
//	c := make([]float64, m*d)
package room
