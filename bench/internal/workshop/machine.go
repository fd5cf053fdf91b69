package workshop

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Machine describes the machine on which the measurements are made.
type Machine struct {
	CPU    string
	Cores  int
	Memory uint64 // bytes; 0 if unknown
	Go     string
	Kernel string // instruction set that the matrix products use
	Load   string // load average of the last minute; empty if unknown
}

// ThisMachine returns the description of this machine, including its present load.
func ThisMachine() (Machine, error) {
	path, err := kernel.InstructionSet()
	load, _ := os.ReadFile("/proc/loadavg")
	minute, _, _ := strings.Cut(string(load), " ")
	return Machine{
		Load:   minute,
		CPU:    procValue("/proc/cpuinfo", "model name", runtime.GOARCH),
		Cores:  runtime.NumCPU(),
		Memory: procBytes("/proc/meminfo", "MemTotal"),
		Go:     runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
		Kernel: path,
	}, err
}

func (m Machine) String() string {
	memory := "unknown"
	if m.Memory > 0 {
		memory = humanize.IBytes(m.Memory)
	}
	text := fmt.Sprintf("%s, %d cores, %s memory, %s, kernel %s", m.CPU, m.Cores, memory, m.Go, m.Kernel)
	if m.Load != "" {
		text += "; load before the run " + m.Load
	}
	return text
}

// procValue returns the value in the first line of file that has the form "key : value". If there is no such line, it
// returns the argument `otherwise`.
func procValue(file, key, otherwise string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return otherwise
}

func procBytes(file, key string) uint64 {
	kib, err := strconv.ParseUint(strings.TrimSuffix(procValue(file, key, ""), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
