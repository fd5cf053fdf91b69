// Package chunkiotest has planted files in memory, tables and comparisons for the tests of chunkio and its rooms.
package chunkiotest
