package ufs

import (
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// shard is part number of count about equal parts of the input; number begins at 1. The zero value is the whole input.
type shard struct{ number, count int }

func parseShard(s string) (shard, error) {
	if s == "" {
		return shard{}, nil
	}
	i, n, ok := strings.Cut(s, "/")
	number, err1 := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || number < 1 || number > count {
		return shard{}, stream.Usagef("{shard} %q: want I/N with 1 <= I <= N, as 2/8", s)
	}
	return shard{number, count}, nil
}

// rowRange returns the range of rows of the shard in src. For the whole input it returns the zero Range, which
// means all rows.
func (s shard) rowRange(src stream.Source) (stream.Range, error) {
	if s.count == 0 {
		return stream.Range{}, nil
	}
	return stream.Shard(src, s.number, s.count)
}
