// Package kill implements the verb kill, which tests ufs-stream's promise that a run with a checkpoint loses nothing
// when it is killed:
//
//  1. runs.go lists the jobs, one for each kind of run that usually takes long, and makes data with which they take a
//     few seconds.
//  2. chain.go first lets a run of each job finish without a kill. Then it starts the run, kills it (kill -9) at a
//     random moment, and starts it again with the same command, until it is done. If an output exists, even after a
//     kill, it must equal the output of the run without a kill, except for times.
//  3. write.go writes a table with the kills, the faults, and the work that was repeated after a kill.
package kill
