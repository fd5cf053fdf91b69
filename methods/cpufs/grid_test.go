package cpufs

import (
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/method"
)

func TestNewGrid(t *testing.T) {
	g, err := NewGrid([]string{"px_1_2", "px_0_0", "px_0_1", "px_1_0", "px_0_2", "px_1_1"}, nil)
	if err != nil || !slices.Equal(g.Shape, []int{2, 3}) || !slices.Equal(g.Cell, []int{5, 0, 1, 3, 2, 4}) {
		t.Errorf("grid %v, %v", g, err)
	}
	g, err = NewGrid([]string{"a", "b", "c", "px_0_0"}, []int{2, 2})
	if err != nil || !slices.Equal(g.Cell, []int{0, 1, 2, 3}) {
		t.Errorf("grid %v, %v", g, err)
	}
	g, err = NewGrid([]string{"px_0_1_0", "px_0_0_2", "px_0_0_0", "px_0_1_2", "px_0_0_1", "px_0_1_1"}, nil)
	if err != nil || !slices.Equal(g.Shape, []int{1, 2, 3}) || !slices.Equal(g.Cell, []int{3, 2, 0, 5, 1, 4}) {
		t.Errorf("grid %v, %v", g, err)
	}
	for _, c := range []struct {
		names []string
		shape []int
		want  string
	}{
		{nil, nil, "no features"},
		{[]string{"px_0_0", "px_0_1", "px_1_0"}, nil, "the grid is 2x2, but 1 of its cells have no feature: the first is px_1_1"},
		{[]string{"px_0_0", "px_0_00"}, nil, `"px_0_0" and "px_0_00" are both pixel (0, 0)`},
		{[]string{"px_0_0", "x"}, nil, `"x" is not named px_R_C`},
		{[]string{"a", "b", "c"}, []int{2, 2}, "shape 2x2 has 4 cells, but there are 3 features"},
		{[]string{"px_0_0", "px_0_1"}, []int{2, 1}, "shape 2x1, but the features' names make a grid of 1x2"},
		{[]string{"px_0_0", "px_0_1"}, []int{2, 2}, "the first is px_1_0"},
		{[]string{"px_999999_999999"}, nil, "more than"},
		{[]string{"px_0_0", "px_0_1_0"}, nil, `"px_0_1_0" is not named px_R_C`},
		{[]string{"px_0_0_0", "px_0_0_1"}, []int{1, 2}, "shape 1x2, but the features' names make a grid of 1x1x2"},
		{[]string{"px_0_0_0", "px_1_0_1", "px_0_0_1"}, nil, "the grid is 2x1x2, but 1 of its cells have no feature: the first is px_1_0_0"},
		{[]string{"px_0_1_0", "px_0_01_0"}, nil, "are both pixel (0, 1, 0)"},
		{[]string{"px_0_99999_999999"}, nil, "more than"},
		{[]string{"a", "b", "c"}, []int{2, 2, 2}, "shape 2x2x2 has 8 cells, but there are 3 features"},
		{[]string{"a"}, []int{1}, "1 sides"},
		{[]string{"a"}, []int{0, 1}, "empty"},
	} {
		if _, err := NewGrid(c.names, c.shape); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %v: error %v, want %q", c.names, c.shape, err, c.want)
		}
	}
}

func TestParseShape(t *testing.T) {
	if s, err := ParseShape("28x32"); err != nil || !slices.Equal(s, []int{28, 32}) {
		t.Errorf("28x32 is read as %v, error %v", s, err)
	}
	if s, err := ParseShape("2x3X4"); err != nil || !slices.Equal(s, []int{2, 3, 4}) {
		t.Errorf("2x3X4 is read as %v, error %v", s, err)
	}
	for _, s := range []string{"", "28", "28x", "0x3", "2x3x", "2x3x0", "-1x2", "ax2"} {
		if _, err := ParseShape(s); err == nil {
			t.Errorf("%q is a shape", s)
		}
	}
}

func TestRankGroupsTies(t *testing.T) {
	score := []float64{0, 3, 1, 3 * (1 - 1e-12), 0, 2, 0}
	constant := make([]bool, len(score))
	constant[0] = true
	order, groups := rankFeatures(score, constant)
	if !slices.Equal(order, []int{1, 3, 5, 2, 4, 6, 0}) || !slices.Equal(groups, []int{2, 1, 1, 2, 1}) {
		t.Errorf("order %v, groups %v", order, groups)
	}
	r := Result{Descent: method.Descent{Ties: groups}}
	for k, want := range map[int][2]int{0: {0, 0}, 1: {0, 2}, 2: {0, 0}, 3: {0, 0}, 5: {4, 6}, 7: {0, 0}} {
		if from, to := r.Ties.At(k); [2]int{from, to} != want && from != to {
			t.Errorf("k = %d: tied ranks %d to %d, want %v", k, from, to, want)
		}
	}
}
