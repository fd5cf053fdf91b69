// Package blocks chooses blocks, i.e. groups of features that are chosen together, by their gain or their gain per cost.
// The entries of G come from a [Source]: [InMemory], or passes over rows in package outofcore.
package blocks
