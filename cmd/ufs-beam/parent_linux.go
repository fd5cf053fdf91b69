package main

import (
	"flag"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent makes a worker end together with the program that started it. Beam's pool of workers stops a worker by
// killing only the program that started it. The worker of the Go SDK would then keep its memory for at least an hour.
func dieWithParent() {
	if worker := flag.Lookup("worker"); worker == nil || worker.Value.String() != "true" {
		return
	}
	parent := os.Getppid()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err == nil && os.Getppid() != parent {
		os.Exit(1) // the parent ended before the call
	}
}
