//go:build unix

package workshop

import (
	"os"
	"runtime"
	"syscall"
)

func childPeak(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return peakBytes(u)
	}
	return 0
}

func ownPeak() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return peakBytes(&u)
}

// peakBytes returns Maxrss in bytes. The field is in KiB on Linux and the BSDs, and in bytes on macOS.
func peakBytes(u *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss) //nolint:unconvert // Maxrss has 32 bits on some systems
	}
	return int64(u.Maxrss) << 10 //nolint:unconvert // as above
}
