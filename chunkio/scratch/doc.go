// Package scratch keeps data in files that does not fit into memory while a run lasts: a [Space] is the
// [stream.Scratch] of files, for methods that iterate over rows.
//
//  1. [New] names a folder and a bound on all files together; Reserve checks early whether there is room.
//  2. Make makes a file of records, whose passes read and write them in order, a record ahead of
//     the caller and one after. Each record has a checksum.
//  3. Keep makes such a file with a name ([Kept]), from which a later process continues: a checkpoint.
//  4. Store moves states with a binary form out of memory ([Stored]), and Plain makes a file of
//     bytes, at any offset ([Plain]).
//
// # Cost
//
// A pass reads each byte once, writes it once, or both. It holds two or three records in memory
// ([Buffers]), which its file keeps for the next pass; a file holds 8 more bytes for each record. The
// space is reserved on the disk when a file is made, if the system can do that; a kept file takes
// twice its size from its first write after a settled state on.
//
// # Errors
//
// A bound that is exceeded is a [stream.MemoryError], before anything is made. A disk that
// cannot be written, full or not, is a [stream.OutputError] with the folder and a remedy. A record
// that cannot be read, or differs from the one written, is an error of its pass, with its number; in a
// kept file it is a [stream.DataError].
package scratch
