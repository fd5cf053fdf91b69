// Package workshop runs the programs that the bench measures, each as a child process, and measures their costs:
//
//  1. New makes a scratch folder and builds ufs-stream into it, or uses an existing binary, which is the installed one
//     outside the project's folder.
//     BuildBare and BuildDecode add the programs that only read (bench/_bareread, bench/_decode).
//  2. RunChild runs a program to its end, and measures its wall and cpu time and its peak memory
//     (rusage.go). RunJSON and RunSelect run a verb of ufs-stream and decode its output.
//  3. StartSelf runs gen in another process of the bench, whose memory does not count here.
//  4. ThisMachine describes the machine of the measurements (machine.go).
package workshop
