package corpora

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
)

func (r *run) writeResults(ctx context.Context, out io.Writer) error {
	var text, lines bytes.Buffer
	r.writeMarkdown(&text)
	if err := r.writeCSV(&lines); err != nil {
		return err
	}
	for end, b := range map[string][]byte{".md": text.Bytes(), ".csv": lines.Bytes()} {
		if err := results.WriteFile(ctx, filepath.Join(r.results, "corpora"+end), nil, b); err != nil {
			return err
		}
	}
	r.printRemark("wrote %s.md and .csv", filepath.Join(r.results, "corpora"))
	if _, err := out.Write(text.Bytes()); err != nil || r.expect == "" {
		return err
	}
	b, err := r.encodeExpectations(ctx)
	if err != nil {
		return err
	}
	if err := results.WriteFile(ctx, r.expect, nil, b); err != nil {
		return err
	}
	r.printRemark("wrote %s", r.expect)
	return nil
}

func (r *run) writeMarkdown(w io.Writer) {
	fmt.Fprintf(w, "# Other projects' files\n\nMade by `%s`.\n\n- machine: %s\n- program: %s\n", r.command, r.shop.Machine, r.shop.Version)
	fmt.Fprintf(w, "- read: `inspect --scan --times` reads all features; copied: `convert` copies all columns; refused: with a message that names\n"+
		"  the fault; errors: a panic, a signal, an internal fault, or words of Go's runtime; hangs: no end after %s\n", r.giveUp)
	fmt.Fprintf(w, "- leaves: features that DuckDB has read too, of other formats than Parquet in the copy; each value to the bit, nulls, NaN and\n"+
		"  infinities by their kind; a decimal and a time is what is nearest to DuckDB's digits. Differences: leaves, and copies of\n"+
		"  Parquet files, which are compared in all columns, whose rows are not the file's\n")
	r.writeSuiteTable(w)
	r.writeListSection(w, "Errors and hangs", (*finding).listFailures)
	r.writeListSection(w, "Differences", (*finding).listDifferences)
	r.writeGroupSection(w, "Refused, though DuckDB reads it", "files", func(f *finding) []string {
		if f.reading.outcome == refused && f.askedDuckDB && f.comparison.refusal == "" {
			return []string{f.reading.message}
		}
		return nil
	})
	r.writeGroupSection(w, "Refused, and by DuckDB, or not asked of it", "files", func(f *finding) []string {
		if f.reading.outcome == refused && (!f.askedDuckDB || f.comparison.refusal != "") {
			return []string{f.reading.message}
		}
		return nil
	})
	r.writeGroupSection(w, "Read, and not copied", "files", func(f *finding) []string {
		if f.reading.outcome == wasRead && f.copying.outcome == refused {
			return []string{f.copying.message}
		}
		return nil
	})
	r.writeGroupSection(w, "Columns left out", "columns", func(f *finding) (whys []string) {
		if f.read != nil {
			for _, l := range f.read.leftOut {
				whys = append(whys, l.Why)
			}
		}
		return whys
	})
	r.writeGroupSection(w, "Read, and not compared, or not in every leaf: DuckDB refuses it", "files", func(f *finding) []string {
		if f.read != nil && f.comparison.refusal != "" {
			return []string{f.comparison.refusal}
		}
		return nil
	})
	r.writeListSection(w, "Read, and not comparable", func(f *finding) []string { return f.comparison.notComparable })
	r.writeGroupSection(w, "Copied, and not compared: DuckDB refuses it", "files", func(f *finding) []string {
		if f.copyComparison.refusal != "" && f.comparison.refusal == "" {
			return []string{f.copyComparison.refusal}
		}
		return nil
	})
}

func (r *run) writeSuiteTable(w io.Writer) {
	columns := []string{"files", "read", "refused", "errors", "hangs", "copied", "copies compared", "leaves", "values", "differences"}
	results.TableHead(w, append([]string{"suite"}, columns...), 1)
	var suites []string
	counts := make(map[string][]int)
	const all = "all"
	for i := range r.findings {
		f := &r.findings[i]
		if counts[f.suite] == nil {
			suites = append(suites, f.suite)
		}
		for _, suite := range []string{f.suite, all} {
			row := counts[suite]
			if row == nil {
				row = make([]int, len(columns))
				counts[suite] = row
			}
			row[0]++
			row[1+slices.Index([]outcome{wasRead, refused, failed, hung}, f.worstOutcome())]++
			if f.copying.outcome == wasRead {
				row[5]++
			}
			if f.copyComparison.comparedLeaves != nil {
				row[6]++
			}
			row[7] += len(f.comparison.comparedLeaves)
			row[8] += f.comparison.valueCount
			row[9] += len(f.listDifferences())
		}
	}
	if len(suites) > 1 {
		suites = append(suites, all)
	}
	for _, suite := range suites {
		cells := []string{suite}
		for _, n := range counts[suite] {
			cells = append(cells, humanize.Comma(int64(n)))
		}
		results.TableRow(w, cells)
	}
}

func (r *run) writeListSection(w io.Writer, title string, lines func(*finding) []string) {
	for i := range r.findings {
		f := &r.findings[i]
		for _, line := range lines(f) {
			if title != "" {
				fmt.Fprintf(w, "\n## %s\n\n", title)
				title = ""
			}
			fmt.Fprintf(w, "- %s/%s: %s\n", f.suite, f.name, line)
		}
	}
}

// quotedOrNumber matches quoted texts and numbers. Messages of the same kind differ only in these.
var quotedOrNumber = regexp.MustCompile(`"[^"]*"|\b\d+(\.\d+)?\b`)

// writeGroupSection writes a section with a row for each kind of line. A row contains the number of such lines, the
// number of files that have them, and the first of these files.
func (r *run) writeGroupSection(w io.Writer, title, what string, lines func(*finding) []string) {
	type kind struct {
		line, first  string
		count, files int
	}
	kinds := make(map[string]*kind)
	for i := range r.findings {
		f := &r.findings[i]
		seen := make(map[*kind]bool)
		for _, line := range lines(f) {
			key := quotedOrNumber.ReplaceAllString(line, "…")
			k := kinds[key]
			if k == nil {
				k = &kind{line: line, first: f.suite + "/" + f.name}
				kinds[key] = k
			}
			k.count++
			if !seen[k] {
				seen[k] = true
				k.files++
			}
		}
	}
	if len(kinds) == 0 {
		return
	}
	var rows []*kind
	for _, k := range kinds {
		rows = append(rows, k)
	}
	slices.SortFunc(rows, func(a, b *kind) int { return cmp.Or(b.count-a.count, cmp.Compare(a.first+a.line, b.first+b.line)) })
	fmt.Fprintf(w, "\n## %s\n", title)
	head := []string{"why, of the first", "first file", "files"}
	if what != "files" {
		head = append(head, what)
	}
	results.TableHead(w, head, 2)
	for _, k := range rows {
		cells := []string{k.line, k.first, strconv.Itoa(k.files)}
		if what != "files" {
			cells = append(cells, strconv.Itoa(k.count))
		}
		results.TableRow(w, cells)
	}
}

func (r *run) writeCSV(w io.Writer) error {
	lines := [][]string{{"suite", "file", "outcome", "exit_code", "message", "copy", "copy_message", "rows", "features", "left_out",
		"duckdb", "duckdb_message", "leaves_compared", "values_compared", "differences", "different"}}
	for i := range r.findings {
		f := &r.findings[i]
		line := []string{f.suite, f.name, string(f.reading.outcome), strconv.Itoa(f.reading.code), f.reading.message, string(f.copying.outcome), f.copying.message}
		if f.read != nil {
			var leftOut []string
			for _, l := range f.read.leftOut {
				leftOut = append(leftOut, l.Name+": "+l.Why)
			}
			line = append(line, strconv.FormatInt(f.read.rows, 10), strconv.Itoa(len(f.read.leaves)), strings.Join(leftOut, "; "))
		} else {
			line = append(line, "", "", "")
		}
		duckDB := ""
		switch {
		case !f.askedDuckDB:
		case f.comparison.refusal != "":
			duckDB = string(refused)
		default:
			duckDB = string(wasRead)
		}
		different := f.listDifferences()
		lines = append(lines, append(line, duckDB, cmp.Or(f.comparison.refusal, f.copyComparison.refusal, strings.Join(f.comparison.notComparable, "; ")),
			strconv.Itoa(len(f.comparison.comparedLeaves)), strconv.Itoa(f.comparison.valueCount), strconv.Itoa(len(different)), strings.Join(different, "; ")))
	}
	return csv.NewWriter(w).WriteAll(lines)
}
