package chunkio

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Convert writes the inputs with all columns to out as Parquet, like Apply. It ignores opt.Columns and opt.Also.
// Columns that share a name are also copied, and keep this name. Structs and lists of Parquet keep their structure; the
// fields of other structs become columns of their flattened names. Rows of libsvm text become the lists indices and
// values, and the column label.
func Convert(ctx context.Context, inputs []string, out string, opt ApplyOptions) (ApplyReport, error) {
	opt.allColumns, opt.Columns, opt.Also = true, nil, nil
	if DefaultSparse(inputs) != "" {
		return convertLibsvm(ctx, inputs, out, opt.withDefaults())
	}
	opt.direct = &directOutput{out: out}
	defer opt.direct.discardUncommitted()
	return Apply(ctx, inputs, out, opt)
}

func (a *applier) chooseAllColumns(ctx context.Context) (columns []copier.Column, err error) {
	src, err := a.openSource(ctx, max(slices.IndexFunc(a.catalog.files, func(f file) bool { return f.countRows() > 0 }), 0))
	if err != nil {
		return nil, err
	}
	defer src.Close()
	whole := map[string]bool{} // fields that are copied with all their leaves
	for i, l := range a.catalog.leaves {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := copier.Column{Name: l.Name, Kind: copier.FromLeaf, Leaf: i, Element: -1}
		top, within := l.Name, l.Path != nil
		if within {
			top = l.Path[0]
		}
		field := copier.Column{Name: top, Kind: copier.FromField, Element: -1}
		switch {
		case whole[top]:
			continue
		case isNested(l) || within:
			if _, err := src.Field(field); err == nil {
				whole[top], c = true, field
			} else if isNested(l) {
				return nil, stream.Usagef("column %s: %v; %v", l.Name, err, a.adviceToOmitColumn())
			}
		}
		columns = append(columns, c)
	}
	for i, p := range a.catalog.parts {
		if slices.ContainsFunc(columns, func(c copier.Column) bool { return c.Name == p.key }) {
			return nil, errNameClash(a.catalog, entry{origin: &origin{leaf: -1}, flat: p.key})
		}
		columns = append(columns, copier.Column{Name: p.key, Kind: copier.FromPartition, Part: i, Element: -1})
	}
	for _, c := range columns {
		a.report.Columns = append(a.report.Columns, c.Name)
	}
	return columns, nil
}
