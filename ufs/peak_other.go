//go:build !linux

package ufs

import "runtime"

// peakMemory approximates the peak resident memory of the process in bytes, on systems that do not report it simply. It
// returns the memory that the Go runtime has obtained from the system, which only grows.
func peakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
