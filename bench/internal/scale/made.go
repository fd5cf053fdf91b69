package scale

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
)

type generatedData struct {
	kind       string               // the verb of gen
	name       string               // name of the data in the results; empty for planted data
	genFlags   func(size) []string  // flags of gen in addition to rows, seed and output
	readFlags  func(size) []string  // flags of select for reading it; may be nil
	valueBytes func(s size) float64 // size of the values in bytes before compression
}

func denseBytes(s size) float64 { return 4 * float64(s.rows) * float64(s.columns) }

// Planted data with at least listColumns features are stored as a single column of lists. In a file with a million
// columns and 200 rows the footer would be larger than the data, because it needs about 1 KB for each column, and
// bareread would measure the footer.
const listColumns = 100_000

var plantedData = generatedData{
	kind: "planted", valueBytes: denseBytes,
	genFlags: func(s size) []string {
		args := []string{"--type", "float", "--columns", strconv.Itoa(s.columns)}
		if s.columns >= listColumns {
			args = append(args, "--list", "values")
		}
		return args
	},
}

// Sparse rows have sparseWords words on average. minSparseColumns, their least number of columns, is 4 for each of 10
// topics.
const sparseWords, minSparseColumns = 50, 40

const sparseName = "sparse"

var sparseData = generatedData{
	kind: "sparse", name: sparseName,
	genFlags: func(s size) []string {
		return []string{"--columns", strconv.Itoa(s.columns), "--words", strconv.Itoa(sparseWords)}
	},
	readFlags: func(s size) []string {
		return []string{"--sparse", "indices,values," + strconv.Itoa(s.columns), "--label", gen.LabelName}
	},
	valueBytes: func(s size) float64 { return 8 * sparseWords * float64(s.rows) }, // an index and a value
}

func (m generatedData) genArgs(path string, s size, seed uint64) []string {
	return append(
		[]string{"gen", m.kind, "--rows", strconv.FormatInt(s.rows, 10), "--seed", strconv.FormatUint(seed, 10), "-o", path, "-q"},
		m.genFlags(s)...)
}

func (m generatedData) splitSizes(rows, columns []int64, maxBytes int64) (fitting, tooLarge []size) {
	for _, r := range rows {
		for _, c := range columns {
			s := size{r, int(c)}
			if m.valueBytes(s) > float64(maxBytes) || c > math.MaxInt32 {
				tooLarge = append(tooLarge, s)
			} else {
				fitting = append(fitting, s)
			}
		}
	}
	slices.SortStableFunc(fitting, func(a, b size) int { return cmp.Compare(m.valueBytes(a), m.valueBytes(b)) })
	return fitting, tooLarge
}
