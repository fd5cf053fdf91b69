// Package relating describes the relations between columns: explanations of a selection, clusters of redundant columns,
// and trees of features.
package relating
