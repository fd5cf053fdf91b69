// Package memory implements the verb memory, which tests ufs-stream's promise that --memory-limit bounds its peak
// resident memory:
//
//  1. shapes.go makes tables that need much memory, each for another reason: wide, tall, sparse, one
//     row group of 2 GB, a million row groups.
//  2. runs.go lists the runs on each table: every method of select, and every other verb.
//  3. ask.go finds the smallest limit of a run. With a limit of 1 MiB the program refuses, and names a
//     sufficient limit. It is then started with that limit, and so on until it is done.
//  4. write.go writes a table of limits and peaks. A peak above its limit is an error.
//
// The peak is the kernel's own figure for the process, ru_maxrss: resident pages of any kind, including the
// program's file. No control group is used, because its figures differ. It also counts pages of files that were
// read and written, although the kernel frees them before it kills a process. It counts the program's own pages only
// in the group that touched them first. It also counts page tables, 1/500 of the resident memory. Besides, it
// requires root, and it kills a run that exceeds the limit without reporting by how much.
package memory
