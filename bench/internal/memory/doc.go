// Package memory implements the verb memory, which tests ufs-stream's promise that --memory-limit bounds its peak
// resident memory:
//
//  1. shapes.go makes data that are hard on memory, each in its own way: wide, tall, sparse, one
//     row group of 2 GB, a million row groups.
//  2. runs.go lists the runs on each table: every method of select, and every other verb.
//  3. ask.go finds the smallest limit by asking: with 1 MiB the program refuses and names a
//     sufficient limit. It runs with that, until it is done.
//  4. write.go writes a table of limits and peaks. A peak above its limit is an error.
//
// The peak is the kernel's own figure for the process, ru_maxrss: resident pages of any kind, including the
// program's file. A control group would also count pages of files that were read and written, which the kernel
// takes back before it ends a process; the program's pages only for the group that touched them first; and page
// tables, a five-hundredth of the resident memory. Making one requires root, and it reports an excess by
// killing the run, without its size. So there is none.
package memory
