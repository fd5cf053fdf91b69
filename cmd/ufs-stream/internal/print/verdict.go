package print

import (
	"cmp"
	"io"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// WriteVerdict writes v, whether a selection still serves new data, for people or as JSON.
func WriteVerdict(w io.Writer, v *ufs.Verdict, o Options) error {
	return output{encode: jsonEncoderOf(v), page: func(w *screen.Page) { printVerdict(w, v, o) }}.writeTo(w, o)
}

func printVerdict(w *screen.Page, v *ufs.Verdict, o Options) {
	w.Printf("%s of %s, scale %s, against %s rows of %s features\n\n", CountNoun(v.K, "feature"), v.Method, v.Scale,
		humanize.Comma(v.RowsUsed), humanize.Comma(int64(v.Features)))
	rows := [][]string{
		{"the selection, fitted to the new data", percentText(1 - v.Error)},
		{"a fresh selection of as many features", percentText(1 - v.Fresh)},
	}
	if x := v.ByOldWeights; !math.IsNaN(float64(x)) {
		rows = append(rows, []string{"the selection by the weights of the baseline", percentText(1 - x)})
	}
	w.Table([]string{"explained by", ">share"}, rows)
	w.Printf("\nlost of what a fresh one explains: %s (tolerance %s", percentText(v.Lost), percentText(v.Tolerance))
	if x := v.LostBefore; !math.IsNaN(float64(x)) {
		data := "the data it was made from"
		if !math.IsNaN(float64(v.ByOldWeights)) {
			data = "the baseline"
		}
		w.Printf("; on %s %s", data, percentText(x))
	}
	w.Printf(")\n")
	shifts := slices.Clone(v.Columns)
	slices.SortStableFunc(shifts, func(a, b ufs.ColumnShift) int { return cmp.Compare(b.Index(), a.Index()) })
	var moved [][]string
	for _, col := range shifts {
		if o.Verbose || col.Moved != "" {
			how := col.Moved
			if col.Why != "" {
				how += ": " + col.Why
			}
			moved = append(moved, []string{screen.QuoteName(col.Name), map[bool]string{true: "yes"}[col.Selected], roundedNumber(col.PSI), roundedNumber(col.Mean), roundedNumber(col.Variance), how})
		}
	}
	if len(moved) > 0 {
		shown := moved[:o.limitList(len(moved), maxListLines)]
		w.Printf("\n")
		w.Table([]string{"column", "selected", ">index (PSI)", ">mean moved by (sd)", ">variance ratio", "moved"}, shown)
		if n := len(moved) - len(shown); n > 0 {
			w.Printf("and %d more; -v lists them\n", n)
		}
	}
	switch {
	case v.Again:
		w.Printf("\nselect again:\n")
	case len(v.Undecided) > 0:
		w.Printf("\ncannot tell whether the selection still serves:\n")
	case v.Lost > v.Tolerance:
		since := v.LostSince
		if math.IsNaN(float64(v.LostBefore)) {
			since = v.LostOfOwn()
		}
		w.Printf("\nthe selection still serves: of what it explained before it lost %s\n", percentText(max(since, 0)))
	default:
		w.Printf("\nthe selection still serves\n")
	}
	for _, why := range slices.Concat(v.Why, v.Undecided) {
		w.Printf("  %s\n", why)
	}
	printTransfer(w, v.Transfer)
}
