package recipe

import (
	"fmt"
	"slices"
	"strings"
)

// python is the names as a list, and the lines that read these columns with pyarrow.
func (r *Recipe) python() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\ncolumns = [\n", r.chosen())
	for _, c := range r.Columns {
		fmt.Fprintf(&b, "    %s,\n", quoted(c.Name))
	}
	b.WriteString("]\n")
	form := map[Form]string{Parquet: "parquet", CSV: "csv", NDJSON: "json", Arrow: "ipc"}[r.Form]
	if form == "" || len(r.Sources) == 0 || !pythonReads(r.Sources) {
		return b.String()
	}
	globs := slices.ContainsFunc(r.Sources, func(s string) bool { return strings.ContainsAny(s, "*?[") })
	b.WriteString("\n")
	if globs {
		b.WriteString("import glob\n\n")
	}
	b.WriteString("import pyarrow.dataset as ds\n")
	what := "columns"
	if slices.ContainsFunc(r.Columns, func(c Column) bool { return !c.plain() }) {
		b.WriteString("import pyarrow.compute as pc\n")
		what = "fields"
	}
	b.WriteString("\npaths = [\n")
	for _, s := range r.Sources {
		fmt.Fprintf(&b, "    %s,\n", quoted(s))
	}
	b.WriteString("]\n")
	paths := "paths"
	if globs {
		paths = "sorted(f for p in paths for f in glob.glob(p, recursive=True))"
	}
	if what == "fields" {
		b.WriteString("fields = {\n")
		for _, c := range r.Columns {
			fmt.Fprintf(&b, "    %s: %s,\n", quoted(c.Name), pythonField(c))
		}
		b.WriteString("}\n")
	}
	partitioning := ""
	if r.Hive {
		partitioning = ", partitioning=\"hive\""
	}
	fmt.Fprintf(&b, "frame = ds.dataset(%s, format=%q%s).to_table(columns=%s).to_pandas()\n", paths, form, partitioning, what)
	return b.String()
}

// pythonReads reports whether pyarrow opens the sources by their names: local ones, or one object of a
// store that it knows.
func pythonReads(sources []string) bool {
	if !slices.ContainsFunc(sources, func(s string) bool { return strings.Contains(s, "://") }) {
		return true
	}
	return len(sources) == 1 && (strings.HasPrefix(sources[0], "s3://") || strings.HasPrefix(sources[0], "gs://"))
}

// pythonField is a column as an expression of pyarrow.
func pythonField(c Column) string {
	var path []string
	for _, p := range c.Path {
		path = append(path, quoted(p))
	}
	field := "ds.field(" + strings.Join(path, ", ") + ")"
	if c.Element >= 0 {
		return fmt.Sprintf("pc.list_element(%s, %d)", field, c.Element)
	}
	return field
}
