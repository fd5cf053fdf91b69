// Package small implements the verb small, which measures the costs of small things: of a file, a row group, a column
// in a footer, and a row group that a condition leaves out.
//
//  1. Each case is a table that consists of many of these things (cases.go). Its files are written to a scratch folder
//     (data.go).
//  2. In each turn, bareread and ufs-stream read the table, each in a process of its own on one thread (small.go). The
//     cpu time of the processes counts, because it depends little on other programs.
//  3. A table has a row for each case: the ratio of the cpu times, and the time for each thing that remains after the
//     start of the program and two bare readings are subtracted (write.go).
package small
