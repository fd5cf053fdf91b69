package scan

import (
	"github.com/ufs-stream/ufs-stream/stream"
)

// StripFeatures is the number of features of a dense block that are standardized at a time if memory is short. It is a
// multiple of the number of terms that products round together, so that strips do not change bits.
const StripFeatures = 512

// BlockBytes returns the memory of a standardized block in two strips, or of a sparse block with its index by features.
func BlockBytes(d int, sparse bool) int64 {
	if sparse {
		places := int64(sparseBlockSize(d))
		return SparseRowsBytes(places, places, d)
	}
	return 8 * int64(min(d, 2*StripFeatures)) * int64(stream.BlockRows(d))
}
