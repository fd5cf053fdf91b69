package intake

import (
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/shell"
)

const minus = "-" // apart from the letters after it, which make no option

// usualSpellings are the default spellings of a missing value of pandas 2.
var usualSpellings = []string{
	"", "#N/A", "#N/A N/A", "#NA", minus + "1.#IND", minus + "1.#QNAN", minus + "NaN", minus + "nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
}

// spellings are the texts of a missing value. The zero value has the usual ones.
type spellings struct {
	given   bool     // in place of the usual ones; an empty field is missing always
	listed  []string // all of them
	texts   map[string]bool
	numbers []float64 // numbers among them, which are missing however they are written: -999 and -999.00
}

func newSpellings(list []string) spellings {
	n := spellings{given: list != nil, listed: usualSpellings, texts: make(map[string]bool, len(list))}
	if n.given {
		n.listed = []string{""}
	}
	for _, s := range list {
		if s = trim(s); !n.texts[s] && s != "" {
			n.listed = append(n.listed, s)
		}
		n.texts[s] = true
	}
	n.numbers = NumbersAmong(list)
	return n
}

// NumbersAmong are the numbers among spellings of a missing value.
func NumbersAmong(list []string) (numbers []float64) {
	for _, s := range list {
		if x, ok := parseFloat(trim(s)); ok {
			numbers = append(numbers, x)
		}
	}
	return numbers
}

// hasText reports whether a field without blanks around it is missing.
func (n *spellings) hasText(s string) bool {
	if !n.given {
		return slices.Contains(usualSpellings, s)
	}
	if s == "" || n.texts[s] {
		return true
	}
	if len(n.numbers) == 0 {
		return false
	}
	x, ok := parseFloat(s)
	return ok && slices.Contains(n.numbers, x)
}

// mostSpelled bounds the spellings of missing values that are kept of a sample.
const mostSpelled = 16

// withSpelling adds a spelling to the spellings of a sample.
func withSpelling(spelled []string, s string) []string {
	if s != "" && len(spelled) < mostSpelled && !slices.Contains(spelled, s) {
		spelled = append(spelled, strings.Clone(s))
	}
	return spelled
}

// NullsWith is a list of spellings of a missing value as a command line takes it: the present ones, in whose
// place the list is, and more.
func NullsWith(there []string, more ...string) string {
	list := slices.Clone(there)
	slices.Sort(list)
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for i, s := range list {
		if strings.ContainsAny(s, ",\"") {
			list[i] = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
		}
	}
	joined := strings.Join(list, ",")
	if strings.Trim(joined, "?") == "" { // which a shell leaves as it is
		return joined
	}
	return shell.Quote(joined)
}

// clearNumbers makes nulls of the numbers of a batch that are missing values.
func (n *spellings) clearNumbers(b *batch, columns []Column) {
	if len(n.numbers) == 0 {
		return
	}
	for j, c := range columns {
		cells, there := b.cells[j*b.stride:][:b.rows], b.there[j*b.stride:][:b.rows]
		for i, cell := range cells {
			var x float64
			switch c.Kind {
			case Float:
				x = math.Float64frombits(cell)
			case Count, Int:
				x = float64(int64(cell))
			case Uint:
				x = float64(cell)
			default:
				continue
			}
			there[i] = there[i] && !slices.Contains(n.numbers, x)
		}
	}
}
