package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/convert"
)

func (r *Recipe) pythonText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\ncolumns = [\n", r.describeChoice())
	for _, c := range r.Columns {
		fmt.Fprintf(&b, "    %s,\n", quoteString(c.Name))
	}
	b.WriteString("]\n")
	form := map[Form]string{Parquet: "parquet", CSV: "csv", NDJSON: "json", Arrow: "ipc"}[r.Form]
	if form == "" || len(r.Sources) == 0 || !canPyarrowOpen(r.Sources) {
		return b.String()
	}
	globs := slices.ContainsFunc(r.Sources, func(s string) bool { return strings.ContainsAny(s, "*?[") })
	b.WriteString("\n")
	if globs {
		b.WriteString("import glob\n\n")
	}
	b.WriteString("import pyarrow.dataset as ds\n")
	selected := "columns"
	if slices.ContainsFunc(r.Columns, func(c Column) bool { return !c.isInputColumn() }) {
		b.WriteString("import pyarrow.compute as pc\n")
		selected = "fields"
	}
	b.WriteString("\npaths = [\n")
	for _, s := range r.Sources {
		fmt.Fprintf(&b, "    %s,\n", quoteString(s))
	}
	b.WriteString("]\n")
	paths := "paths"
	if globs {
		paths = "sorted(f for p in paths for f in glob.glob(p, recursive=True))"
	}
	if selected == "fields" {
		b.WriteString("fields = {\n")
		for _, c := range r.Columns {
			fmt.Fprintf(&b, "    %s: %s,\n", quoteString(c.Name), pythonField(c))
		}
		b.WriteString("}\n")
	}
	partitioning := ""
	if r.Hive {
		partitioning = ", partitioning=\"hive\""
	}
	fmt.Fprintf(&b, "frame = ds.dataset(%s, format=%q%s).to_table(columns=%s).to_pandas()\n", paths, form, partitioning, selected)
	return b.String()
}

// canPyarrowOpen reports whether pyarrow can open the sources by their names. This is so for local files, and for a
// single object in a store that pyarrow supports.
func canPyarrowOpen(sources []string) bool {
	if !slices.ContainsFunc(sources, func(s string) bool { return strings.Contains(s, "://") }) {
		return true
	}
	return len(sources) == 1 && (strings.HasPrefix(sources[0], "s3://") || strings.HasPrefix(sources[0], "gs://"))
}

func pythonField(column Column) string {
	path := convert.Each(column.Path, quoteString)
	field := "ds.field(" + strings.Join(path, ", ") + ")"
	if column.Element >= 0 {
		return fmt.Sprintf("pc.list_element(%s, %d)", field, column.Element)
	}
	return field
}
