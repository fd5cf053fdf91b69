// Package evaluating judges selections on rows: by clusters, by the reconstruction error and by repeating the selections
// on half-samples.
package evaluating
