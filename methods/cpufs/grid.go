package cpufs

import (
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Grid places features in cells: feature j is in cell Cell[j] of the shape. Cells are counted with the last index
// running fastest. In a picture the first index is the row and the second the column, so that pixel (h, g) of n₁×n₂ is
// cell h·n₂ + g. A third index is, for example, the band: value b of pixel (h, g) of n₁×n₂×n₃ is cell (h·n₂ + g)·n₃ + b.
// Shapes have two sides or more.
type Grid struct {
	Shape []int
	Cell  []int // cell of each column of the source; every cell has one column
}

// ParseShape parses a shape as in "28x28" (rows by columns) or "28x28x3" (by bands). The error is a *stream.UsageError.
func ParseShape(s string) ([]int, error) {
	parts := strings.Split(strings.ToLower(s), "x")
	shape := make([]int, len(parts))
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 {
			return nil, stream.Usagef("{shape} %q: want rows by columns, as 28x28, or also by bands, as 28x28x3", s)
		}
		shape[i] = n
	}
	if len(shape) < 2 {
		return nil, stream.Usagef("{shape} %q: one side; want two sides or more, as 28x28 or 28x28x3", s)
	}
	return shape, nil
}

// cellName matches px_R_C with row R and column C, px_R_C_B with also band B, and so on, all counted from 0.
var cellName = convert.CompilePattern(`^px(_[0-9]{1,6}){2,}$`)

// NewGrid places features. If all names have the form px_R_C, or all px_R_C_B and so on, features are placed by their
// names, in any order of the columns, and a shape that is given must agree with the names. Otherwise the columns are in
// the order of the cells of the shape. A nil shape means that none is given. The error is a *stream.UsageError that
// names a cell that is missing or occurs twice.
func NewGrid(names []string, shape []int) (Grid, error) {
	if len(names) == 0 {
		return Grid{}, stream.Usagef("there are no features to lay out in a grid")
	}
	places := parseCellNames(names)
	switch {
	case len(places) == len(names):
		return gridFromNames(names, places, shape)
	case shape == nil:
		return Grid{}, stream.Usagef("feature %q is not named px_R_C (or px_R_C_B like all others), so its place in the grid is unknown; give {shape} RxC or RxCxB, or leave it out with {exclude}", names[len(places)])
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

func parseCellNames(names []string) (places [][]int) {
	for _, name := range names {
		if !cellName().MatchString(name) {
			return places // fewer than names
		}
		indices := strings.Split(name, "_")[1:]
		if len(places) > 0 && len(indices) != len(places[0]) {
			return places
		}
		place := make([]int, len(indices))
		for i, text := range indices {
			place[i], _ = strconv.Atoi(text) // at most six digits
		}
		places = append(places, place)
	}
	return places
}

// gridFromNames places features, places[j] being the indices of feature j. If shape is nil, it uses the smallest shape
// that has room for all.
func gridFromNames(names []string, places [][]int, shape []int) (Grid, error) {
	own := make([]int, len(places[0]))
	for _, place := range places {
		for s, i := range place {
			own[s] = max(own[s], i+1)
		}
	}
	if shape == nil {
		shape = own
	}
	cells, err := cellCount(shape)
	if err != nil {
		return Grid{}, err
	}
	fits := len(shape) == len(own)
	for s := 0; fits && s < len(own); s++ {
		fits = own[s] <= shape[s]
	}
	if !fits {
		return Grid{}, stream.Usagef("{shape} %s, but the features' names make a grid of %s", shapeText(shape), shapeText(own))
	}
	g := Grid{Shape: shape, Cell: make([]int, len(places))}
	owner := make(map[int]int, len(places))
	for j, place := range places {
		cell := 0
		for s, i := range place {
			cell = cell*shape[s] + i
		}
		if other, taken := owner[cell]; taken {
			return Grid{}, stream.Usagef("features %q and %q are both pixel (%s)", names[other], names[j], joinNumbers(place, ", "))
		}
		owner[cell], g.Cell[j] = j, cell
	}
	if len(places) == cells {
		return g, nil
	}
	for cell := range cells {
		if _, there := owner[cell]; !there {
			return Grid{}, stream.Usagef("the grid is %s, but %d of its cells have no feature: the first is px_%s; constant pixels belong to it too",
				shapeText(shape), cells-len(places), joinNumbers(placeOfCell(cell, shape), "_"))
		}
	}
	panic("cpufs: more features than cells, and none twice")
}

func placeOfCell(cell int, shape []int) []int {
	place := make([]int, len(shape))
	for s := len(shape) - 1; s >= 0; s-- {
		cell, place[s] = cell/shape[s], cell%shape[s]
	}
	return place
}

func cellCount(shape []int) (int, error) {
	if len(shape) < 2 {
		return 0, stream.Usagef("a grid of %d sides; want two sides or more", len(shape))
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

func shapeText(shape []int) string { return joinNumbers(shape, "x") }

func joinNumbers(numbers []int, separator string) string {
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, separator)
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
