//go:build !unix

package localfile

// openOtherEnd does nothing, because opening does not wait on these systems.
func openOtherEnd(string, int) {}
