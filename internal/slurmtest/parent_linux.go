package slurmtest

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes a process die with this one. The go tool kills a test that exceeds its timeout, and then no
// cleanup runs.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
