package intake

import (
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/shell"
)

const minus = "-" // apart from the letters after it, which make no option

// usualSpellings are the default spellings of a missing value in pandas 2.
var usualSpellings = []string{
	"", "#N/A", "#N/A N/A", "#NA", minus + "1.#IND", minus + "1.#QNAN", minus + "NaN", minus + "nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
}

// spellings are the texts of a missing value. The zero value has the usual ones.
type spellings struct {
	replacesUsual bool     // the given list replaces the usual ones; an empty field is always missing
	list          []string // all of them
	texts         map[string]bool
	numbers       []float64 // numbers among them, which are missing in any notation: -999 and -999.00
}

func newSpellings(list []string) spellings {
	n := spellings{replacesUsual: list != nil, list: usualSpellings, texts: make(map[string]bool, len(list))}
	if n.replacesUsual {
		n.list = []string{""}
	}
	for _, s := range list {
		if s = trimBlanks(s); !n.texts[s] && s != "" {
			n.list = append(n.list, s)
		}
		n.texts[s] = true
	}
	n.numbers = NumbersAmong(list)
	return n
}

// NumbersAmong returns the numbers among spellings of a missing value.
func NumbersAmong(list []string) (numbers []float64) {
	for _, s := range list {
		if x, ok := parseFloat(trimBlanks(s)); ok {
			numbers = append(numbers, x)
		}
	}
	return numbers
}

// isNull reports whether a field without blanks around it is missing.
func (n *spellings) isNull(s string) bool {
	if !n.replacesUsual {
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

// maxNullsFound bounds the list of a sample's spellings of missing values.
const maxNullsFound = 16

func addNullSpelling(spelled []string, s string) []string {
	if s != "" && len(spelled) < maxNullsFound && !slices.Contains(spelled, s) {
		spelled = append(spelled, strings.Clone(s))
	}
	return spelled
}

// NullsWith formats spellings of a missing value for a command line: the present ones, which the option's list
// replaces, and more.
func NullsWith(present []string, more ...string) string {
	list := slices.Clone(present)
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
	if strings.Trim(joined, "?") == "" { // which a shell leaves unchanged
		return joined
	}
	return shell.Quote(joined)
}

// clearNumbers makes the numbers of a batch null that are spellings of a missing value.
func (n *spellings) clearNumbers(b *batch, columns []Column) {
	if len(n.numbers) == 0 {
		return
	}
	for j, c := range columns {
		cells, present := b.cells[j*b.stride:][:b.rows], b.present[j*b.stride:][:b.rows]
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
			present[i] = present[i] && !slices.Contains(n.numbers, x)
		}
	}
}
