// Package spectral embeds the rows of an anchor graph by the leading eigenvectors of its
// affinity, from the graph's m×m matrix alone.
package spectral
