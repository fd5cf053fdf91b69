package slurmtest

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the system kill a process when this process dies. This is needed because the go tool kills a test
// that exceeds its timeout, and the test's cleanup then does not run.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
