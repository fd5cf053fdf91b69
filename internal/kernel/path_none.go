//go:build purego || !amd64

package kernel

func machinePaths() []*isa { return nil }
