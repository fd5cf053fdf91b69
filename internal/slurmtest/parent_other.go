//go:build !linux

package slurmtest

import "os/exec"

// dieWithParent does nothing: only Linux can, and Slurm's packages are Linux's.
func dieWithParent(*exec.Cmd) {}
