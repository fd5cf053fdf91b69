// Package kill is the verb kill, which holds ufs-stream to its promise that a run with a checkpoint
// loses nothing when it is killed:
//
//  1. runs.go lists the runs: long passes of each kind, and data that they take some seconds for.
//  2. chain.go runs one without a kill, and then again and again: it is killed (kill -9) at a random
//     moment, started again with the same command, killed again, until it is done. Whatever stands at
//     the output's place, after a kill too, must be the output of the run without a kill, timing aside.
//  3. write.go writes a table: kills, what was wrong, and the work that was done again for a kill.
package kill
