//go:build !linux

package main

// dieWithParent does nothing: workers run on Linux.
func dieWithParent() {}
