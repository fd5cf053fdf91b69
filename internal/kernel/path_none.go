//go:build purego || (!amd64 && !arm64)

package kernel

func machinePaths() []*isa { return nil }
