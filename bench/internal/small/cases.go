package small

import "fmt"

type format int

const (
	parquetFormat format = iota
	csvFormat
	npyFormat // NumPy, compressed with gzip
)

// table is a table of planted columns. In Parquet it also has the column partName: 0 in the first hundredth of the rows
// of a file, and so on to 99. A condition on this column leaves out whole row groups.
type table struct {
	format  format
	files   int64
	rows    int64 // number of rows of each file
	columns int64
	group   int64 // number of rows of a row group
}

// smallCase is a table of many small things. yardstick is the table that bareread reads; it is the table itself, unless
// a condition leaves out most of its rows.
type smallCase struct {
	name      string
	things    int64
	table     table
	yardstick table
	condition string // of select
}

const (
	fileRows     = 1000
	groupRows    = 100
	fewColumns   = 10
	groupsOfFile = 10_000
)

// listCases returns the cases, with a part of the files, row groups and columns.
func listCases(part int64) []smallCase {
	files, columns, groups := max(10_000/part, 1), max(100_000/part, fewColumns), max(1_000_000/part, 100)
	groupFiles := max(groups/groupsOfFile, 1)
	manyGroups := table{parquetFormat, groupFiles, groups / groupFiles * groupRows, fewColumns, groupRows}
	kept := manyGroups
	kept.rows /= 100
	cases := []smallCase{
		{name: "files", things: files, table: table{parquetFormat, files, fileRows, fewColumns, fileRows}},
		{name: "row groups", things: groups, table: manyGroups},
		{name: "row groups, of which a condition keeps 1 %", things: groups, table: manyGroups, yardstick: kept, condition: fmt.Sprintf("%s = 7", partName)},
		{name: "columns", things: columns, table: table{parquetFormat, 1, fileRows, columns, fileRows}},
		{name: "files of CSV", things: files, table: table{csvFormat, files, fileRows, fewColumns, 0}},
		{name: "columns of CSV", things: columns, table: table{csvFormat, 1, fileRows, columns, 0}},
		{name: "columns of .npy.gz", things: columns, table: table{npyFormat, 1, fileRows, columns, 0}},
	}
	for i := range cases {
		if cases[i].yardstick.files == 0 {
			cases[i].yardstick = cases[i].table
		}
	}
	return cases
}
