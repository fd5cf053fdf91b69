// Package memory is the verb memory, which holds ufs-stream to its promise that --memory-limit
// bounds its peak resident memory:
//
//  1. shapes.go makes data that are hard on memory, each in its own way: wide, tall, sparse, one
//     row group of 2 GB, a million row groups.
//  2. runs.go lists what is run on each: every method of select, and every other verb.
//  3. ask.go finds the smallest limit by asking: with 1 MiB the program refuses and names the
//     limit that is enough. It runs with that, until it is done.
//  4. write.go writes a table of limits and peaks. A peak above its limit is an error.
package memory
