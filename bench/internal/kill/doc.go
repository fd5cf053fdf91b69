// Package kill implements the verb kill, which tests ufs-stream's promise that a run with a checkpoint loses nothing
// when it is killed:
//
//  1. runs.go lists the runs: long passes of each kind, and data that make them take some seconds.
//  2. chain.go runs one without a kill, and then again and again: it is killed (kill -9) at a random
//     moment, started again with the same command, killed again, until it is done. Any output that
//     exists, after a kill too, must equal that of the run without a kill, except for times.
//  3. write.go writes a table: kills, faults, and the work repeated after a kill.
package kill
