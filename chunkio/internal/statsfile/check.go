package statsfile

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// checkCounts refuses a header with an impossible number of rows or bytes, range of rows or set of shards, because
// users of the header rely on these. A checksum detects damage, but not a header that no program could have written.
func (h *StatsHeader) checkCounts() error {
	if h.Part != nil {
		if err := h.Part.Check(); err != nil {
			return err
		}
	}
	var rows int64
	for _, in := range h.Inputs {
		if in.Rows < 0 || in.Bytes < 0 || in.Rows > math.MaxInt64-rows {
			return fmt.Errorf("an input %q of %d rows and %d bytes cannot be", in.Path, in.Rows, in.Bytes)
		}
		rows += in.Rows
	}
	var last int64
	for _, r := range h.Ranges {
		if r.From < last || r.To < r.From || r.To > rows {
			return fmt.Errorf("the range of rows %d to %d of %d is not possible after row %d", r.From, r.To, rows, last)
		}
		last = r.To
	}
	return nil
}

func checkStatsColumns(columns []stream.Column) error {
	seen := make(map[string]bool, len(columns))
	for _, c := range columns {
		if seen[c.Name] {
			return fmt.Errorf("column %q occurs twice", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}
