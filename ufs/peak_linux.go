package ufs

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// peakMemory is the process's peak resident memory in bytes, or 0 if the kernel does not report it. VmHWM
// counts the same as a memory limit: resident pages of any kind.
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
