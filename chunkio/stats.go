package chunkio

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/statsfile"
)

type (
	// StatsHeader describes the statistics in a container.
	StatsHeader = statsfile.StatsHeader
	// Losses describes the rows that a table has lost.
	Losses = statsfile.Losses
	// Section is a named sequence of bytes to write to a container.
	Section = statsfile.Section
	// StatsHead is the header of a statistics container whose remaining bytes have not been read.
	StatsHead = statsfile.StatsHead
	// StatsReader reads a statistics container.
	StatsReader = statsfile.StatsReader
)

// LossesPrefix begins the names of the sections with the statistics of the rows that a table has lost.
const LossesPrefix = statsfile.LossesPrefix

// MaxStatsHeader is the greatest length of a header in bytes: 256 MiB of JSON describe about three million columns.
const MaxStatsHeader = statsfile.MaxStatsHeader

// WriteStats writes a container to path, a file or an object, which appears there only once it is complete.
func WriteStats(ctx context.Context, path string, h StatsHeader, sections ...Section) error {
	return statsfile.WriteStats(ctx, path, h, sections...)
}

// ExpandStats replaces globs and folders among the arguments by the names of the statistics files that they contain. A
// glob is a local pattern that a shell has not expanded, or a pattern for the keys of a bucket. An argument that is the
// name of an existing file is not a glob. Files of a glob are in byte order.
func ExpandStats(ctx context.Context, args []string, opt FetchOptions) ([]string, error) {
	return statsfile.ExpandStats(ctx, args, opt)
}

// ReadStatsHeader reads the header of the container at path. It does not verify the bytes after the header. Of an
// object it fetches only the beginning, by few requests. Errors are *stream.DataError.
func ReadStatsHeader(ctx context.Context, path string, opt FetchOptions) (StatsHeader, error) {
	return statsfile.ReadStatsHeader(ctx, path, opt)
}

// ReadStatsHead reads the header of a container, for callers that read many headers and open the containers later. If
// like is not nil, the new header shares with it the lists of columns that are equal in both. This saves time: decoding
// 1,000 columns takes 1 ms, and comparing their bytes takes much less.
func ReadStatsHead(ctx context.Context, path string, like *StatsHead, opt FetchOptions) (StatsHead, error) {
	return statsfile.ReadStatsHead(ctx, path, like, opt)
}

// FindStatsHeader reads the header of the container at path, if there is such a file. A local file must also be as long
// as its blocks require, because a copy may have been cut short. This check reads 4 bytes of every MiB. Objects need no
// check, because an incomplete object is never visible.
func FindStatsHeader(ctx context.Context, path string, opt FetchOptions) (h StatsHeader, found bool, err error) {
	return statsfile.FindStatsHeader(ctx, path, opt)
}

// IsStats reports whether the file at path begins like a statistics container. For an object the name is enough if it
// is a folder or glob, or if its ending is .ufs or the ending of a data format. The beginning of any other file is
// read.
func IsStats(ctx context.Context, path string, opt FetchOptions) bool {
	return statsfile.IsStats(ctx, path, opt)
}

// OpenStats opens the container at path and verifies it: this is one pass over the compressed bytes, at the speed of
// the disk. An object is downloaded to a temporary file first, once. Errors are *stream.DataError.
func OpenStats(ctx context.Context, path string, opt FetchOptions) (*StatsReader, error) {
	return statsfile.OpenStats(ctx, path, opt)
}

// OpenStatsAs opens the container at path whose header was read before (ReadStatsHead), and uses head.Header without
// decoding it again; head.Check detects a replaced file. Bytes after the header are not verified when the container is
// opened. Each section is verified when it has been read to its end, and its contents must not be used before.
func OpenStatsAs(ctx context.Context, path string, head StatsHead, opt FetchOptions) (*StatsReader, error) {
	return statsfile.OpenStatsAs(ctx, path, head, opt)
}

// DamagedStats returns the error, with a remedy, of a container whose contents are wrong although its checksums are
// right.
func DamagedStats(path, format string, args ...any) error {
	return statsfile.DamagedStats(path, format, args...)
}
