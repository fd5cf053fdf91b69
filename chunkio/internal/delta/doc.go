// Package delta reads the transaction log of a Delta Lake table and finds the live files, in steps:
//
//  1. listing: the names in _delta_log show the commits and checkpoints (listing.go), and so the versions that can be
//     reconstructed (segment.go);
//  2. version: the newest, the requested one, or the newest at a time (times.go);
//  3. replay: the newest checkpoint that is not too new (checkpoint.go, by its Parquet columns, columns.go and
//     cursor.go), then the commits after it line by line (lines.go), yield the live files (state.go);
//  4. protocol: features that the table's files need and this package lacks are refused by name (protocol.go).
//
// It follows the reading side of
// https://github.com/delta-io/delta/blob/master/PROTOCOL.md. It does not read
// _last_checkpoint: that file spares others the listing, which this package makes anyway, so
// an absent, stale or wrong one changes nothing.
//
// # Memory
//
// While it replays, Read holds a string and at most 256 bytes for every live file, 56 bytes when it is done; every
// different set of partition values once; 96 bytes a commit of the log, and 384 a file of a checkpoint; and of the log
// one line, or the pages of one row group's columns, at a time, and up to eight short commits that are read ahead. All
// of it is counted against Options.Memory. Removed files are forgotten: commits that remove as much as they add hold no
// more.
//
//	snapshot, err := delta.Read(ctx, folder, "s3://bucket/table", delta.Options{})
//	if err != nil {
//		return err
//	}
//	for _, file := range snapshot.Files {
//		fmt.Println(file.Path, file.Size)
//	}
package delta
