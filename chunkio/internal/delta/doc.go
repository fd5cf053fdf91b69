// Package delta reads the transaction log of a Delta Lake table and tells which files are
// live, in steps:
//
//  1. listing: the names in _delta_log say which commits and checkpoints there are
//     (listing.go), and so which versions can be reconstructed (segment.go);
//  2. version: the newest, the one asked for, or the newest of a time (times.go);
//  3. replay: the newest checkpoint that is no newer (checkpoint.go, by its Parquet columns,
//     columns.go and cursor.go), then the commits behind it line by line (lines.go), give
//     the live files (state.go);
//  4. protocol: what the table's files need of their reader and we do not have is refused by
//     its name (protocol.go).
//
// It follows the reading side of
// https://github.com/delta-io/delta/blob/master/PROTOCOL.md. It does not read
// _last_checkpoint: that file spares others the listing, which this package makes anyway, so
// that an absent, stale or wrong one changes nothing.
//
// # Memory
//
// Read holds, of every live file, one string and at most 256 bytes beside it while it
// replays, 56 bytes when it is done; of every different set of partition values, what it
// takes, once; 96 bytes a commit of the log, and 384 a file of a
// checkpoint; and of the log one line, or the pages of one row
// group's columns, at a time, and up to eight short commits that are read ahead. All of it is counted against Options.Memory. What was removed
// is forgotten: commits that remove as much as they add hold no more.
//
//	snapshot, err := delta.Read(ctx, folder, "s3://bucket/table", delta.Options{})
//	if err != nil {
//		return err
//	}
//	for _, file := range snapshot.Files {
//		fmt.Println(file.Path, file.Size)
//	}
package delta
