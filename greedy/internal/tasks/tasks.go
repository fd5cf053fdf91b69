// Package tasks cuts loops into tasks of a fixed size, so that sums do not depend on the number of workers.
package tasks

// A matrix product is cut into tasks of RowsPerTask rows or ColsPerTask columns, which take a few microseconds or
// more. These numbers are fixed, so that sums do not depend on the number of workers.
const (
	RowsPerTask = 16
	ColsPerTask = 512
)

// TaskCount returns the number of tasks of the given size in a loop over n.
func TaskCount(n, size int) int { return (n + size - 1) / size }

// TaskRange returns the range [from, to) of a task in a loop over n, for tasks of the given size.
func TaskRange(task, size, n int) (from, to int) { return task * size, min((task+1)*size, n) }
