// Package scratch stores data that does not fit into memory in files, until a run ends. A [Space] implements
// [stream.Scratch] with files, for methods that iterate over rows.
//
//  1. [New] names a folder and a bound on all files together; Reserve checks early whether there is room.
//  2. Make makes a file of records. A pass over them reads one record ahead of the caller,
//     and writes one record after the caller has used it. Each record has a checksum.
//  3. Keep makes such a file with a name ([Kept]), from which a later process continues: a checkpoint.
//  4. Store moves states with a binary form out of memory ([Stored]), and Plain makes a file of
//     bytes, at any offset ([Plain]).
//
// # Cost
//
// A pass reads each byte once, writes it once, or both. It holds the number of records in memory that [Buffers]
// returns, two or three. Their memory is kept for the next pass over the file. A file also holds 8 bytes in memory for
// each record. The space is reserved on the disk when a file is made, if the system can do that. A kept file uses twice
// its size on the disk from the first write after a call of Settle.
//
// # Errors
//
// If a file would exceed the bound, it is not made, and the error is a [stream.MemoryError]. If the disk is full or
// cannot be written, the error is a [stream.OutputError] with the folder and a remedy. If a record cannot be read, or
// differs from the written record, the pass returns an error with the record's number. In a kept file this error is a
// [stream.DataError].
package scratch
