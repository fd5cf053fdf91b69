// Package room frees memory before large allocations under a memory limit of the Go runtime (debug.SetMemoryLimit).
//
// The runtime starts a garbage collection after the allocation that crosses its goal, not before it. So a new matrix of
// 80 MiB may be resident together with 80 MiB of garbage even if this exceeds the limit: package align used 437 MiB for
// 500 × 20,000 values with a limit of 417 MiB. Therefore call EnsureFree before you allocate a large matrix:
//
//	room.EnsureFree(8 * int64(m) * int64(d))
//	c := make([]float64, m*d)
package room
