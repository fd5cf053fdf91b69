// Package delta reads the transaction log of a Delta Lake table and finds the live files, in four steps:
//
//  1. List: the names in _delta_log show the commits and checkpoints (listing.go), and so the versions that can be
//     reconstructed (segment.go).
//  2. Choose the version: the newest, the requested one, or the newest at a given time (times.go).
//  3. Replay: read the newest checkpoint that is not newer than the version (checkpoint.go), by its Parquet columns
//     (columns.go, cursor.go), and then the commits after it, line by line (lines.go). The result is the live files
//     (state.go).
//  4. Check the protocol: refuse tables that need a feature which this package lacks, and name it (protocol.go).
//
// It follows the rules for readers in https://github.com/delta-io/delta/blob/master/PROTOCOL.md. It does not read
// _last_checkpoint, with which other readers avoid listing the folder. This package lists the folder in any case, so an
// absent, stale or wrong _last_checkpoint has no effect.
//
// # Memory
//
// During the replay, Read holds the path and at most 256 bytes for every live file; afterwards, it holds the path and
// 64 bytes, and the set of its deleted rows. It holds every distinct set of partition values once, 96 bytes per commit
// of the log, and 384 bytes per file of a checkpoint. It reads one line of the log at a time, or the pages of one row
// group's columns, and up to eight short commits ahead. All this memory is counted against Options.Memory. Removed
// files are dropped, so commits that remove as many files as they add need no additional memory.
//
//	snapshot, err := delta.Read(ctx, folder, "s3://bucket/table", delta.Options{})
//	if err != nil {
//		return err
//	}
//	for _, file := range snapshot.Files {
//		fmt.Println(file.Path, file.Size)
//	}
package delta
