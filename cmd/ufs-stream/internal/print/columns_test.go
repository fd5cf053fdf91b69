package print

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestColumnsInAllFormats: one list of columns gives the table its titles and rounded values, CSV its names and exact
// values, and Parquet a column for each name, also without rows. A name that looks like a formula is a warning.
func TestColumnsInAllFormats(t *testing.T) {
	numbers := []stream.Number{1.0 / 3, stream.Number(math.NaN())}
	columns := []column{
		{name: "name", title: "feature", value: func(i int) string { return []string{"=a", "b"}[i] }},
		{name: "rank", title: ">rank", value: func(i int) int { return i + 1 }},
		{name: "share", title: ">share", value: func(i int) stream.Number { return numbers[i] }},
		{name: "best", title: "best", value: func(i int) bool { return i == 0 }},
		{name: "column", title: ">column", value: func(int) stream.Position { return stream.Position{} }},
		{title: "shown", text: func(int) string { return "only in the table" }},
		{name: "hidden", value: func(int) string { return "only in files" }},
	}
	var warnings []string
	o := Options{Warn: func(list []string) { warnings = append(warnings, list...) }}
	for rows, want := range []struct{ table, csv string }{
		{"feature  rank  share  best  column  shown\n", "name,rank,share,best,column,hidden\n"},
		{"feature  rank    share  best  column  shown\n=a          1  0.33333  yes        -  only in the table\n", "name,rank,share,best,column,hidden\n=a,1,0.3333333333333333,true,,only in files\n"},
		{"feature  rank    share  best  column  shown\n=a          1  0.33333  yes        -  only in the table\nb           2        -  no         -  only in the table\n", "name,rank,share,best,column,hidden\n=a,1,0.3333333333333333,true,,only in files\nb,2,,false,,only in files\n"},
	} {
		var table, csv, parquet bytes.Buffer
		printColumns(screen.NewPage(&table), columns, rows)
		if got := table.String(); got != want.table {
			t.Errorf("table of %d rows: got\n%swant\n%s", rows, got, want.table)
		}
		if err := writeCSV(&csv, columns, rows, o); err != nil || csv.String() != want.csv {
			t.Errorf("CSV of %d rows: %v, got\n%swant\n%s", rows, err, csv.String(), want.csv)
		}
		err := writeParquet(&parquet, columns, rows)
		isLacking := func(c column) bool { return !strings.Contains(parquet.String(), c.name) }
		if err != nil || slices.ContainsFunc(columns, isLacking) || !strings.HasPrefix(parquet.String(), "PAR1") {
			t.Errorf("Parquet of %d rows: %v, %d bytes lack a column", rows, err, parquet.Len())
		}
	}
	if len(warnings) != 2 || !strings.Contains(warnings[0], `"=a"`) {
		t.Errorf("warnings of the CSV: got %q, want one of =a for each table that has it", warnings)
	}
}
