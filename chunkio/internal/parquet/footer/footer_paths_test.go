package footer

import (
	"testing"
)

// TestPathBytes: the names of groups count for every leaf below them.
func TestPathBytes(t *testing.T) {
	for _, c := range []struct {
		children, names []int64
		want            int64
	}{
		{[]int64{2, 0, 0}, []int64{0, 1, 2}, 3},
		{[]int64{2, 2, 0, 0, 0}, []int64{6, 1000, 1, 2, 5}, 3*6 + 2*1000 + 1 + 2 + 5},
		{[]int64{1, 1, 1, 0}, []int64{0, 10, 100, 1}, 111},
		{[]int64{3, 1, 0, 0, 1, 0}, []int64{0, 10, 1, 2, 20, 1}, 11 + 2 + 21},
	} {
		if got := sumPathBytes(c.children, c.names); got != c.want {
			t.Errorf("children %v, names %v: %d bytes, want %d", c.children, c.names, got, c.want)
		}
	}
}
