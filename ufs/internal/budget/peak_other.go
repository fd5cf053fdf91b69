//go:build !linux

package budget

import "runtime"

// PeakMemory approximates the peak resident memory of the process in bytes, on systems that do not report it simply. It
// returns the memory that the Go runtime has obtained from the system, which only grows.
func PeakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
