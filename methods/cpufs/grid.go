package cpufs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Grid places features in cells: feature j is in cell Cell[j] of the shape. Cells are counted with the last index
// running fastest. In a picture the first index is the row, so that pixel (h, g) of n₁×n₂ is cell h·n₂ + g. Shapes
// have two sides.
type Grid struct {
	Shape []int
	Cell  []int // cell of each column of the source; every cell has one column
}

// ParseShape parses a shape as in "28x28" (rows by columns). The error is a *stream.UsageError.
func ParseShape(s string) ([]int, error) {
	parts := strings.Split(strings.ToLower(s), "x")
	shape := make([]int, len(parts))
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 {
			return nil, stream.Usagef("{shape} %q: want rows by columns, as 28x28", s)
		}
		shape[i] = n
	}
	if len(shape) != 2 {
		return nil, stream.Usagef("{shape} %q: %d sides; only grids of two are built, as 28x28", s, len(shape))
	}
	return shape, nil
}

// pixelName matches px_R_C, with row R and column C counted from 0.
var pixelName = regexp.MustCompile(`^px_([0-9]{1,6})_([0-9]{1,6})$`)

// NewGrid places features. If all names have the form px_R_C, features are placed by their names, in any order of the
// columns, and a shape that is given must agree with the names. Otherwise the columns are in the order of the cells of
// the shape. A nil shape means that none is given. The error is a *stream.UsageError that names a cell that is missing
// or occurs twice.
func NewGrid(names []string, shape []int) (Grid, error) {
	if len(names) == 0 {
		return Grid{}, stream.Usagef("there are no features to lay out in a grid")
	}
	at := parsePixelNames(names)
	switch {
	case len(at) == len(names):
		return gridFromNames(names, at, shape)
	case shape == nil:
		return Grid{}, stream.Usagef("feature %q is not named px_R_C, so its place in the grid is unknown; give {shape} RxC, or leave it out with {exclude}", names[len(at)])
	}
	cells, err := cellCount(shape)
	if err != nil {
		return Grid{}, err
	}
	if cells != len(names) {
		return Grid{}, stream.Usagef("{shape} %s has %d cells, but there are %d features", shapeText(shape), cells, len(names))
	}
	g := Grid{Shape: shape, Cell: make([]int, len(names))}
	for j := range g.Cell {
		g.Cell[j] = j
	}
	return g, nil
}

func parsePixelNames(names []string) (rowAndColumn [][2]int) {
	for _, name := range names {
		m := pixelName.FindStringSubmatch(name)
		if m == nil {
			return rowAndColumn
		}
		var p [2]int
		for i := range p {
			p[i], _ = strconv.Atoi(m[i+1]) // at most six digits
		}
		rowAndColumn = append(rowAndColumn, p)
	}
	return rowAndColumn
}

// gridFromNames places pixels, at[j] being row and column of feature j. If shape is nil, it uses the smallest shape
// that has room for all pixels.
func gridFromNames(names []string, at [][2]int, shape []int) (Grid, error) {
	own := []int{0, 0}
	for _, p := range at {
		own = []int{max(own[0], p[0]+1), max(own[1], p[1]+1)}
	}
	if shape == nil {
		shape = own
	}
	cells, err := cellCount(shape)
	if err != nil {
		return Grid{}, err
	}
	if len(shape) != 2 || own[0] > shape[0] || own[1] > shape[1] {
		return Grid{}, stream.Usagef("{shape} %s, but the features' names make a grid of %s", shapeText(shape), shapeText(own))
	}
	g := Grid{Shape: shape, Cell: make([]int, len(at))}
	owner := make(map[int]int, len(at))
	for j, p := range at {
		cell := p[0]*shape[1] + p[1]
		if other, taken := owner[cell]; taken {
			return Grid{}, stream.Usagef("features %q and %q are both pixel (%d, %d)", names[other], names[j], p[0], p[1])
		}
		owner[cell], g.Cell[j] = j, cell
	}
	if len(at) == cells {
		return g, nil
	}
	for cell := range cells {
		if _, there := owner[cell]; !there {
			return Grid{}, stream.Usagef("the grid is %s, but %d of its cells have no feature: the first is px_%d_%d; constant pixels belong to it too",
				shapeText(shape), cells-len(at), cell/shape[1], cell%shape[1])
		}
	}
	panic("cpufs: more features than cells, and none twice")
}

func cellCount(shape []int) (int, error) {
	if len(shape) != 2 {
		return 0, stream.Usagef("a grid of %d sides; only two are built", len(shape))
	}
	cells := 1
	for _, n := range shape {
		if n < 1 || n > maxFeatures/cells {
			return 0, stream.Usagef("a grid of %s is empty or has more than %d cells", shapeText(shape), maxFeatures)
		}
		cells *= n
	}
	return cells, nil
}

// maxFeatures is the largest number of cells. It keeps byte counts from overflowing.
const maxFeatures = 1 << 24

func shapeText(shape []int) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, "x")
}

func (g Grid) checkColumnCount(columnCount int) error {
	cells, err := cellCount(g.Shape)
	if err != nil {
		return err
	}
	if len(g.Cell) != columnCount || cells != columnCount {
		return stream.Usagef("a grid of %s with %d features, but %d columns", shapeText(g.Shape), len(g.Cell), columnCount)
	}
	seen := make([]bool, cells)
	for j, cell := range g.Cell {
		if cell < 0 || cell >= cells || seen[cell] {
			return stream.Usagef("column %d lies in cell %d of %d, which is taken or does not exist", j, cell, cells)
		}
		seen[cell] = true
	}
	return nil
}
