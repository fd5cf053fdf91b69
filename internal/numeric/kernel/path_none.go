//go:build purego || (!amd64 && !arm64)

package kernel

func machineInstructionSets() []*isa { return nil }
