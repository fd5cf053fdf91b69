package scale

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
)

// madeData is a kind of data that gen makes.
type madeData struct {
	kind  string               // the verb of gen
	name  string               // of the data in the results; "" for planted data
	args  func(size) []string  // what gen is told beside rows, seed and output
	read  func(size) []string  // further flags of select that read it; may be nil
	bytes func(s size) float64 // of the values, before compression
}

// denseBytes are those of 4-byte values.
func denseBytes(s size) float64 { return 4 * float64(s.rows) * float64(s.columns) }

// listColumns is the number of columns from which planted data is one column of lists. A footer takes
// about 1 KB a column, so that a file of 200 rows and a million columns is more footer than data, and
// a bare reading of it measures the footer.
const listColumns = 100_000

var plantedData = madeData{
	kind: "planted", bytes: denseBytes,
	args: func(s size) []string {
		args := []string{"--type", "float", "--columns", strconv.Itoa(s.columns)}
		if s.columns >= listColumns {
			args = append(args, "--list", "values")
		}
		return args
	},
}

// Sparse rows have so many words on average, of at least so many columns, which is 4 for each of
// gen's 10 topics.
const sparseWords, leastWords = 50, 40

// sparseName is the name of sparse data in the results.
const sparseName = "sparse"

var sparseData = madeData{
	kind: "sparse", name: sparseName,
	args: func(s size) []string {
		return []string{"--columns", strconv.Itoa(s.columns), "--words", strconv.Itoa(sparseWords)}
	},
	read: func(s size) []string {
		return []string{"--sparse", "indices,values," + strconv.Itoa(s.columns), "--label", gen.LabelName}
	},
	bytes: func(s size) float64 { return 8 * sparseWords * float64(s.rows) }, // an index and a value
}

// genArgs are the arguments of this program that make the data of a size.
func (m madeData) genArgs(path string, s size, seed uint64) []string {
	return append(
		[]string{"gen", m.kind, "--rows", strconv.FormatInt(s.rows, 10), "--seed", strconv.FormatUint(seed, 10), "-o", path, "-q"},
		m.args(s)...)
}

// sizes returns all pairs of rows and columns of at most limit bytes, the smallest first,
// and the larger ones.
func (m madeData) sizes(rows, columns []int64, limit int64) (kept, tooLarge []size) {
	for _, r := range rows {
		for _, c := range columns {
			s := size{r, int(c)}
			if m.bytes(s) > float64(limit) || c > math.MaxInt32 {
				tooLarge = append(tooLarge, s)
			} else {
				kept = append(kept, s)
			}
		}
	}
	slices.SortStableFunc(kept, func(a, b size) int { return cmp.Compare(m.bytes(a), m.bytes(b)) })
	return kept, tooLarge
}
