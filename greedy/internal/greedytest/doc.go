// Package greedytest has matrices, sources of rows and anchor graphs for tests of greedy, selections by definition, and
// comparisons of results.
package greedytest
