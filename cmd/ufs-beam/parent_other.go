//go:build !linux

package main

// dieWithParent does nothing, because workers run on Linux.
func dieWithParent() {}
