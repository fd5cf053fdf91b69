package budget

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// PeakMemory returns the peak resident memory of the process in bytes, or 0 if the kernel does not report it. VmHWM
// counts resident pages of any kind, as a memory limit does.
func PeakMemory() int64 {
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
