// Package workshop runs the programs that the bench measures, each as a child process, and says
// what they took:
//
//  1. New makes a scratch folder and builds ufs-stream into it, or takes the binary that is there;
//     BuildBare and BuildDecode add the programs that only read (bench/_bareread, bench/_decode).
//  2. Child runs a program to its end, with its wall and cpu time and its peak memory
//     (rusage.go); RunJSON and RunSelect run a verb of ufs-stream and read its answer.
//  3. StartSelf starts the bench itself again, for gen, so that its memory does not add to ours.
//  4. ThisMachine describes where all this was measured (machine.go).
package workshop
