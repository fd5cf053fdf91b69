//go:build !poison

package pipeline

// poisonSpan has an effect only under the build tag poison.
func poisonSpan(*span) {}
