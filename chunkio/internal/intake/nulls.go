package intake

import (
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/app/shell"
)

const minus = "-" // kept apart from the following letters, which would otherwise look like an option

// usualSpellings are the default spellings of a missing value in pandas 2.
var usualSpellings = []string{
	"", "#N/A", "#N/A N/A", "#NA", minus + "1.#IND", minus + "1.#QNAN", minus + "NaN", minus + "nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
}

// nullSpellings contains the spellings of a missing value. The zero value contains the usual spellings.
type nullSpellings struct {
	replacesUsual bool     // the user's list replaces the usual spellings; an empty field is always missing
	list          []string // all spellings
	texts         map[string]bool
	numbers       []float64 // values of the spellings that are numbers; they are missing in any notation: -999 and -999.00
}

func newNullSpellings(list []string) nullSpellings {
	n := nullSpellings{replacesUsual: list != nil, list: usualSpellings, texts: make(map[string]bool, len(list))}
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

// NumbersAmong returns the values of those spellings in list that are numbers.
func NumbersAmong(list []string) (numbers []float64) {
	for _, s := range list {
		if x, ok := parseFloat(trimBlanks(s)); ok {
			numbers = append(numbers, x)
		}
	}
	return numbers
}

// isNull reports whether a field is a missing value. The field must have no blanks around it.
func (n *nullSpellings) isNull(s string) bool {
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

// maxNullsFound limits how many spellings of missing values are recorded from a sample.
const maxNullsFound = 16

func addNullSpelling(spelled []string, s string) []string {
	if s != "" && len(spelled) < maxNullsFound && !slices.Contains(spelled, s) {
		spelled = append(spelled, strings.Clone(s))
	}
	return spelled
}

// NullsWith formats spellings of a missing value as the value of a command-line option: first the list present, which
// it sorts, and then the list more.
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
	if strings.Trim(joined, "?") == "" { // a shell does not change question marks alone
		return joined
	}
	return shell.Quote(joined)
}

// clearNumbers sets a number of a batch to null if its value is a spelling of a missing value.
func (n *nullSpellings) clearNumbers(b *batch, columns []Column) {
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
