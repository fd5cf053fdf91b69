package ufs

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// peakMemory is the process's peak resident memory in bytes, 0 where the kernel
// does not tell. VmHWM counts what a memory limit is about: resident pages of
// any kind.
func peakMemory() int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if v, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(v, "kB")), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
