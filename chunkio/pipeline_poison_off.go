//go:build !poison

package chunkio

// poison does something under the build tag poison only.
func (*span) poison() {}
