package print

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// WriteDifference writes d, the changes between two selections, for people or as JSON.
func WriteDifference(w io.Writer, d *ufs.Difference, o Options) error {
	return output{encode: jsonEncoderOf(d), page: func(w *screen.Page) { printDifference(w, d) }}.writeTo(w, o)
}

func printDifference(w *screen.Page, d *ufs.Difference) {
	side := func(s ufs.Side) string {
		return fmt.Sprintf("%s, %d of %s features, %s rows, %s explained", s.Method, s.K, humanize.Comma(int64(s.Features)), humanize.Comma(s.RowsUsed), percentText(1-s.Error))
	}
	w.Printf("old: %s\nnew: %s\n\n%s in both, %d came, %d went\n", side(d.Old), side(d.New), CountNoun(d.Both, "feature"), len(d.Came), len(d.Went))
	printDataChanges(w, d.Data)
	changes := func(list []ufs.Change) (rows [][]string) {
		for _, f := range list {
			rows = append(rows, []string{strconv.Itoa(f.Rank), screen.QuoteName(f.Name), f.Why})
		}
		return rows
	}
	var moved, settings [][]string
	for _, m := range d.Moved {
		moved = append(moved, []string{screen.QuoteName(m.Name), strconv.Itoa(m.Old), strconv.Itoa(m.New)})
	}
	for _, s := range d.Settings {
		settings = append(settings, []string{s.Option, cmp.Or(truncateText(s.Old), "-"), cmp.Or(truncateText(s.New), "-")})
	}
	for _, part := range []struct {
		head []string
		rows [][]string
	}{
		{[]string{">rank", "came", "why"}, changes(d.Came)},
		{[]string{">rank", "went", "why"}, changes(d.Went)},
		{[]string{"moved", ">old rank", ">new rank"}, moved},
		{[]string{"setting", "old", "new"}, settings},
	} {
		if len(part.rows) == 0 {
			continue
		}
		w.Printf("\n")
		w.Table(part.head, part.rows)
	}
}

func printDataChanges(w *screen.Page, d ufs.DataShift) {
	var changes []string
	addCount := func(n int64, what string) {
		if n > 0 {
			changes = append(changes, humanize.Comma(n)+" more "+what)
		} else if n < 0 {
			changes = append(changes, humanize.Comma(-n)+" fewer "+what)
		}
	}
	addCount(d.Rows, "rows")
	addCount(int64(d.Features), "features")
	addNames := func(names []string, what string) {
		if n := len(names); n > 0 {
			changes = append(changes, what+" "+strings.Join(screen.QuoteNames(names[:min(n, maxNamesInLine)]), ", ")+andMoreText(n-maxNamesInLine))
		}
	}
	addNames(d.New, "new")
	addNames(d.Gone, "gone")
	if changes != nil {
		w.Printf("the data: %s\n", strings.Join(changes, "; "))
	}
}

func truncateText(text string) string {
	const most = 80
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
