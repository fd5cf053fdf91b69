// Package comparing tests whether a selection still serves new data (check.go), and lists the changes between two
// selections (diff.go).
package comparing
