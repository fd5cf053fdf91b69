// Package workshop runs the programs that the bench measures, each as a child process, and returns their costs:
//
//  1. New makes a scratch folder and builds ufs-stream into it, or takes an existing binary;
//     BuildBare and BuildDecode add the programs that only read (bench/_bareread, bench/_decode).
//  2. Child runs a program to its end, with its wall and cpu time and its peak memory
//     (rusage.go); RunJSON and RunSelect run a verb of ufs-stream and read its answer.
//  3. StartSelf starts the bench itself again, for gen, so that its memory does not add to ours.
//  4. ThisMachine describes the machine of the measurements (machine.go).
package workshop
