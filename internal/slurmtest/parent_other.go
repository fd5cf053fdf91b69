//go:build !linux

package slurmtest

import "os/exec"

// dieWithParent does nothing: only Linux supports it, and Slurm's packages are for Linux.
func dieWithParent(*exec.Cmd) {}
