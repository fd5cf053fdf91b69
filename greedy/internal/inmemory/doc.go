// Package inmemory selects features from a Gram matrix in memory, in full or as a factor, and explains a given choice.
package inmemory
