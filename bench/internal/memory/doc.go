// Package memory is the verb memory, which holds ufs-stream to its promise that --memory-limit
// bounds its peak resident memory:
//
//  1. shapes.go makes data that are hard on memory, each in its own way: wide, tall, sparse, one
//     row group of 2 GB, a million row groups.
//  2. runs.go lists what is run on each: every method of select, and every other verb.
//  3. ask.go finds the smallest limit by asking: with 1 MiB the program refuses and names the
//     limit that is enough. It runs with that, until it is done.
//  4. write.go writes a table of limits and peaks. A peak above its limit is an error.
//
// The peak is the kernel's own figure for the process, ru_maxrss: resident pages of any kind, those
// of the program's file among them. A control group would count the pages of files that were read and
// written too, which the kernel takes back before it ends a process; the program's pages only for the
// group that touched them first; and page tables, a five-hundredth of what is resident. It takes root
// to make one, and tells of a run that is too large by killing it, not by how much. So there is none.
package memory
