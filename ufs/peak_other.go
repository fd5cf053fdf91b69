//go:build !linux

package ufs

import "runtime"

// peakMemory stands in for the peak resident memory where the system does not
// tell it simply: what the Go runtime has obtained, which only grows.
func peakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
