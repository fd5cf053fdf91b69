package copying

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ConvertInputs implements chunkio.Convert.
func ConvertInputs(ctx context.Context, inputs []string, out string, opt ApplyOptions) (ApplyReport, error) {
	opt.allColumns, opt.Columns, opt.Also = true, nil, nil
	if stdin := opening.NewStdin(opt.Stdin); opt.Stdin != nil && stdin != opt.Stdin {
		defer stdin.Close()
		opt.Stdin = stdin
	}
	if listing.DefaultSparse(ctx, inputs, opt.Stdin) != "" {
		return convertSparse(ctx, inputs, out, opt.withDefaults())
	}
	opt.direct = &directOutput{out: out}
	defer opt.direct.discardUncommitted()
	return ApplyColumns(ctx, inputs, out, opt)
}

func (a *applier) chooseAllColumns(ctx context.Context) (columns []copier.Column, err error) {
	src, err := a.openSource(ctx, max(slices.IndexFunc(a.catalog.Files, func(f catalog.File) bool { return f.CountRows() > 0 }), 0))
	if err != nil {
		return nil, err
	}
	defer src.Close()
	whole := map[string]bool{} // fields that are copied with all their leaves
	for i, l := range a.catalog.Leaves {
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
	for i, p := range a.catalog.Parts {
		if slices.ContainsFunc(columns, func(c copier.Column) bool { return c.Name == p.Key }) {
			return nil, schema.ErrNameClash(a.catalog, schema.Entry{Origin: &schema.Origin{Leaf: -1}, Flat: p.Key})
		}
		columns = append(columns, copier.Column{Name: p.Key, Kind: copier.FromPartition, Part: i, Element: -1})
	}
	for _, c := range columns {
		a.report.Columns = append(a.report.Columns, c.Name)
	}
	return columns, nil
}
