package main

import (
	"flag"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent makes a worker end when the program that started it does. Beam's pool of workers
// stops a worker by killing what booted it, and the worker of the Go SDK stays after that: an hour
// at least, with all its memory.
func dieWithParent() {
	if worker := flag.Lookup("worker"); worker == nil || worker.Value.String() != "true" {
		return
	}
	parent := os.Getppid()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err == nil && os.Getppid() != parent {
		os.Exit(1) // it had ended before it could be said
	}
}
