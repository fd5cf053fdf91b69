package footer

import (
	"testing"
)

func TestCheckTree(t *testing.T) {
	for _, good := range [][]int64{{0}, {2, 0, 0}, {1, 1, 1, 0}, {2, 2, 0, 0, 1, 0}} {
		if err := checkTree(good); err != nil {
			t.Errorf("%v: a good tree is refused: %v", good, err)
		}
	}
	deep := make([]int64, 1000)
	for i := range deep[:999] {
		deep[i] = 1
	}
	for _, bad := range [][]int64{{}, {1}, {0, 0}, {2, 0}, {1, 0, 0}, {-1}, {1 << 40, 0}, deep} {
		if err := checkTree(bad); err == nil {
			t.Errorf("%v is taken for a tree", bad[:min(len(bad), 5)])
		}
	}
}
