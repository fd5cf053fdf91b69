package slurmtest

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes a process die with this one, even if the go tool kills a test that takes too long and no
// cleanup runs.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
