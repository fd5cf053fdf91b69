package gathering

import (
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Shard is part number of count about equal parts of the input; number begins at 1. The zero value is the whole input.
type Shard struct{ Number, Count int }

func ParseShard(s string) (Shard, error) {
	if s == "" {
		return Shard{}, nil
	}
	i, n, ok := strings.Cut(s, "/")
	number, err1 := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || number < 1 || number > count {
		return Shard{}, stream.Usagef("{shard} %q: want I/N with 1 <= I <= N, as 2/8", s)
	}
	return Shard{number, count}, nil
}

// rowRange returns the range of rows of the shard in src. For the whole input it returns the zero Range, which
// means all rows.
func (s Shard) rowRange(src stream.Source) (stream.Range, error) {
	if s.Count == 0 {
		return stream.Range{}, nil
	}
	return stream.Shard(src, s.Number, s.Count)
}
