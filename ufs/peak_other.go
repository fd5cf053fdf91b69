//go:build !linux

package ufs

import "runtime"

// peakMemory approximates the peak resident memory on systems that do not report it simply: by the memory that
// the Go runtime has obtained, which only grows.
func peakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
