package slurmtest

import (
	"os/exec"
	"syscall"
)

// dieWithParent has a process killed when this one ends, even where the go tool kills a test
// that takes too long and nothing is cleaned up.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
