// Package budget holds the plan of a run's memory, the limits that it sets in the Go runtime, and the restatement of a
// part's memory error in terms of the whole limit.
//
// The limits are settings of the process: of overlapping runs, the last to start sets them.
package budget
