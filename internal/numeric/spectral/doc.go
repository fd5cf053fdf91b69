// Package spectral embeds the rows of an anchor graph by the leading eigenvectors of its affinity matrix. It computes
// these from the graph's m×m matrix S alone, m being the number of anchors. It also finds the leading principal
// components of the data themselves from their Gram matrix ([FindComponents]).
package spectral
