// Package memory implements the verb memory, which tests ufs-stream's promise that --memory-limit bounds its peak
// resident memory:
//
//  1. runs.go makes tables that need much memory, each for another reason: a wide, a tall and a sparse table, a
//     row group of 2 GB, and a million row groups.
//  2. runs.go lists the runs on each table: every method of select, and every other verb.
//  3. ask.go finds the smallest limit of a run. It starts the run with a limit of 1 MiB. The program refuses this limit
//     and names a sufficient one, with which the run is started again, and so on until it is done.
//  4. write.go writes a table of limits and peaks. A peak above its limit is an error.
//
// The peak is the figure ru_maxrss, which the kernel reports for the process: resident pages of any kind, including the
// program's file. The figures of control groups are not used, because they differ. They count page tables, which are
// 1/500 of the resident memory, and pages of files that the kernel would free before it kills a process. They count a
// page of the program's file only in the group that used the page first. Besides, control groups require root, and they
// kill a run that exceeds the limit without reporting by how much.
package memory
