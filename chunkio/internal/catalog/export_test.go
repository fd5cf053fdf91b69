package catalog

import "github.com/ufs-stream/ufs-stream/chunkio/internal/format"

// IsKeyByStatistics reports whether the statistics of the first row group show that all values of a leaf equal a key.
func IsKeyByStatistics(f format.File, leaf int, key string) bool {
	check := &keyColumnCheck{file: f, leaf: leaf, want: key}
	return check.statisticsProveEqualToKey(0, f.Leaves()[leaf])
}
