// Package merging adds up statistics files within a memory limit: it surveys the headers (survey.go), checks that the
// files belong together, and adds the statistics in a tree (tree.go).
package merging
