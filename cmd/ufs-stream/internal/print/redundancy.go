package print

import (
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// WriteRedundancy writes r, the columns that are alike, for people, as JSON, or as CSV with a row per column, by
// cluster.
func WriteRedundancy(w io.Writer, r *ufs.Redundant, o Options) error {
	columns, rows := redundancyColumns(r)
	return output{jsonEncoderOf(r), func(w *screen.Page) { printRedundancy(w, r, o) }, columns, rows}.writeTo(w, o)
}

// alikeRow is a column of the data in a cluster.
type alikeRow struct {
	cluster *ufs.AlikeCluster
	ufs.AlikeColumn
	first bool // it stands for the cluster
}

func redundancyColumns(r *ufs.Redundant) (columns []column, rows int) {
	drops, copies := make(map[string]ufs.AlikeDrop), make(map[string]string)
	for _, d := range r.Dropped {
		drops[d.Name] = d
	}
	for _, d := range r.Duplicates {
		for _, own := range d.Copies {
			copies[own.Name] = d.Name
		}
	}
	var list []alikeRow
	for i := range r.Clusters {
		for j, col := range r.Clusters[i].Columns {
			list = append(list, alikeRow{&r.Clusters[i], col, j == 0})
		}
	}
	dropOf := func(i int) (d ufs.AlikeDrop, dropped bool) { d, dropped = drops[list[i].Name]; return d, dropped }
	return []column{
		{name: "name", value: func(i int) string { return list[i].Name }},
		{name: "cluster", value: func(i int) int { return list[i].cluster.Cluster }},
		{name: "size", value: func(i int) int { return len(list[i].cluster.Columns) }},
		{name: "representative", value: func(i int) bool { return list[i].first }},
		{name: "r2_own", value: func(i int) stream.Number { return list[i].R2Own }},
		{name: "r2_next", value: func(i int) stream.Number { return list[i].R2Next }},
		{name: "ratio", value: func(i int) stream.Number { return list[i].Ratio }},
		{name: "vif", value: func(i int) string {
			if list[i].Exact {
				return "inf"
			}
			return exactDecimal(list[i].VIF)
		}},
		{name: "kept", value: func(i int) bool { _, dropped := dropOf(i); return !dropped }},
		{name: "dropped_for", value: func(i int) string { d, _ := dropOf(i); return d.For }},
		{name: "correlation", value: func(i int) string {
			if d, dropped := dropOf(i); dropped {
				return exactDecimal(d.Correlation)
			}
			return ""
		}},
		{name: "copy_of", value: func(i int) string { return copies[list[i].Name] }},
	}, len(list)
}

func printRedundancy(w *screen.Page, r *ufs.Redundant, o Options) {
	scores := ""
	if r.Scale == "rank" {
		scores = ", by normal scores of their ranks"
	}
	w.Printf("%s over %s%s: rank %s, %s\n", CountNoun(r.Features, "feature"), rowsText(r.RowsUsed, r.Rows), scores, humanize.Comma(int64(r.Rank)), CountNoun(len(r.Clusters), "cluster"))
	var several []ufs.AlikeCluster
	for _, cl := range r.Clusters {
		if len(cl.Columns) > 1 || o.Verbose {
			several = append(several, cl)
		}
	}
	printClusters(w, several, o)
	if n := len(r.Clusters) - len(several); n > 0 {
		w.Printf("%s like no other\n", CountNoun(n, "column"))
	}
	printDuplicates(w, r, o)
	printCombinations(w, r, o)
	w.Printf("\n%s kept, no two correlated above %v; %d dropped", CountNoun(len(r.Kept), "column"), float64(r.Threshold), len(r.Dropped))
	shown := r.Dropped[:o.limitList(len(r.Dropped), maxNamesInLine)]
	for i, d := range shown {
		w.Printf("%s%s for %s (%s)", map[bool]string{true: ": ", false: ", "}[i == 0], screen.QuoteName(d.Name), screen.QuoteName(d.For), roundedNumber(d.Correlation))
	}
	w.Printf("%s\n", andMoreText(len(r.Dropped)-len(shown)))
	printLeftOut(w, r.LeftOut, o.Verbose)
	printTransfer(w, r.Transfer)
}

func printClusters(w *screen.Page, clusters []ufs.AlikeCluster, o Options) {
	if len(clusters) == 0 {
		return
	}
	shown := clusters[:o.limitList(len(clusters), 2*maxListLines)]
	var table [][]string
	for _, cl := range shown {
		var others []string
		for _, col := range cl.Columns[1 : 1+o.limitList(len(cl.Columns)-1, maxNamesInLine)] {
			others = append(others, screen.QuoteName(col.Name))
		}
		list := strings.Join(others, ", ") + andMoreText(len(cl.Columns)-1-len(others))
		table = append(table, []string{strconv.Itoa(cl.Cluster), humanize.Comma(int64(len(cl.Columns))), percentText(cl.Explained), screen.QuoteName(cl.Representative), roundedNumber(cl.Columns[0].Ratio), list})
	}
	w.Printf("\n")
	w.Table([]string{">cluster", ">columns", ">explained", "representative", ">ratio", "and"}, table)
	if n := len(clusters) - len(shown); n > 0 {
		w.Printf("and %s; -v lists them\n", CountNoun(n, "smaller cluster"))
	}
}

func printDuplicates(w *screen.Page, r *ufs.Redundant, o Options) {
	if len(r.Duplicates) == 0 {
		return
	}
	w.Printf("\nduplicates (%d):\n", len(r.Duplicates))
	for _, d := range r.Duplicates[:o.limitList(len(r.Duplicates), maxListLines)] {
		shown := d.Copies[:o.limitList(len(d.Copies), maxNamesInLine)]
		for _, own := range shown {
			w.Printf("  %s\n", equationText(ufs.LinearCombination{Name: own.Name, Constant: own.Constant, Terms: []ufs.Term{{Name: d.Name, Weight: own.Weight}}}))
		}
		if more := andMoreText(len(d.Copies) - len(shown)); more != "" {
			w.Printf(" %s of %s\n", more, screen.QuoteName(d.Name))
		}
	}
	printCountNotShown(w, o, len(r.Duplicates))
}

func printCombinations(w *screen.Page, r *ufs.Redundant, o Options) {
	if len(r.Combinations) == 0 && r.Longer == 0 {
		return
	}
	w.Printf("\nexact combinations (%d):\n", len(r.Combinations)+r.Longer)
	for _, l := range r.Combinations[:o.limitList(len(r.Combinations), maxListLines)] {
		w.Printf("  %s\n", equationText(l))
	}
	printCountNotShown(w, o, len(r.Combinations))
	if r.Longer > 0 {
		w.Printf("  and %s by more than 20 others each\n", CountNoun(r.Longer, "column"))
	}
}

func printCountNotShown(w *screen.Page, o Options, listLength int) {
	if left := listLength - o.limitList(listLength, maxListLines); left > 0 {
		w.Printf("  and %d more; -v lists them\n", left)
	}
}
