//go:build !linux

package slurmtest

import "os/exec"

// dieWithParent does nothing: only Linux kills a process with its parent, and Slurm's packages are for Linux.
func dieWithParent(*exec.Cmd) {}
