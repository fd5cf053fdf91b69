// Package pipeline reads the rows of a [Table] in passes. One scheduler cuts row groups into spans, workers decode
// their columns and apply the policy for missing values, and the caller consumes the blocks in order.
package pipeline
