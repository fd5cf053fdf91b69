// Package kill implements the verb kill, which tests ufs-stream's promise that a run with a checkpoint loses nothing
// when it is killed:
//
//  1. runs.go lists the runs, which are long passes of each kind, and makes data large enough for a run of
//     a few seconds.
//  2. chain.go runs each of them once without a kill. Then it kills the run (kill -9) at random moments, and
//     starts it again with the same command until it is done. If an output exists, even after a kill, it must
//     equal the output of the run without a kill, except for times.
//  3. write.go writes a table with the kills, the faults, and the work repeated after a kill.
package kill
