package copying

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/plans"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// plan contains the input of a run of Apply and the columns to copy from it.
type plan struct {
	opt         ApplyOptions
	catalog     *catalog.Catalog
	sparse      *schema.Sparse // nil for dense rows
	columns     []copier.Column
	warnings    []stream.Text // oddities of the input and guesses about it
	folderBytes int64         // memory for the file names of an output folder, once the folder is open
}

func (o ApplyOptions) newInputAccess() *opening.Access {
	a := opening.NewAccess(settings.Options{Threads: o.Threads, Note: o.Note, Meter: o.Meter, Anonymous: o.Anonymous, Allow: o.Allow, Texts: o.Texts, Memory: o.Memory, Plan: o.Plan, Where: o.Where, TableVersion: o.TableVersion, TableAsOf: o.TableAsOf, Spool: o.Spool, Sparse: o.Sparse, Stdin: o.Stdin})
	a.ExactIntegers, a.AcceptsText = true, o.allColumns
	return a
}

func newPlan(ctx context.Context, a *opening.Access, inputs []string, opt ApplyOptions) (*plan, error) {
	filter, err := catalog.NewFilter(opt.Where)
	if err != nil {
		return nil, err
	}
	c, err := openCatalogForApply(ctx, a, inputs, filter, opt)
	if err != nil {
		return nil, err
	}
	sparse, err := schema.FindSparse(ctx, c, false, settings.WithDefaults(settings.Options{Sparse: opt.Sparse, Memory: opt.Memory, Spool: opt.Spool}))
	if err != nil {
		return nil, err
	}
	if err := schema.CheckFilterColumns(c, sparse); err != nil {
		return nil, err
	}
	p := &plan{catalog: c, sparse: sparse, opt: opt, warnings: slices.Concat(c.Warnings, a.Texts.CurrentGuesses().Doubts)}
	leaves := len(opt.Columns) + len(opt.Also)
	if opt.allColumns {
		leaves = len(c.Leaves)
	}
	if err := p.checkColumnsFit(leaves); err != nil {
		return nil, err
	}
	if opt.allColumns {
		p.columns, err = p.chooseAllColumns(ctx)
	} else {
		p.columns, err = p.chooseColumns()
	}
	return p, err
}

func openCatalogForApply(ctx context.Context, a *opening.Access, inputs []string, f *catalog.Filter, opt ApplyOptions) (*catalog.Catalog, error) {
	list, err := listInputs(ctx, a, inputs)
	if err != nil {
		return nil, err
	}
	direct, err := useDirectOutput(ctx, a, inputs, list, opt)
	if err != nil {
		return nil, err
	}
	if direct != nil {
		a.WriteRows = direct.writeToOutput
	}
	catalogOpt := catalog.Options{Memory: opt.Memory, Union: opt.Union}
	if list.IsStdin() {
		c, _, err := catalog.OpenStdin(ctx, a, opt.Stdin, list, f, catalogOpt)
		return c, err
	}
	if list, err = f.PruneFiles(list); err != nil {
		return nil, err
	}
	return catalog.BuildCatalog(ctx, a, list, f, catalogOpt)
}

func listInputs(ctx context.Context, a *opening.Access, inputs []string) (*listing.List, error) {
	if a.Options.Plan != "" {
		return plans.ListFiles(ctx, a)
	}
	return listing.ExpandInputs(ctx, a, inputs)
}

// heldBytes returns the memory in use throughout the writing of a file: for the catalog, the names of the files in an
// output folder, and the state of the compressor.
func (p *plan) heldBytes() int64 {
	return p.catalog.MemoryBytes() + p.folderBytes + p.opt.Form.encoderBytes()
}

func (p *plan) openSource(ctx context.Context, fileIndex int) (copier.Source, error) {
	f := &p.catalog.Files[fileIndex]
	opened, _, err := p.catalog.ReopenFile(ctx, fileIndex, p.opt.Memory, p.opt.Meter)
	if err != nil {
		return nil, err
	}
	src, err := copier.Open(opened, f.LeafIndex, p.heldBytes())
	if err != nil {
		opened.Close()
		if errors.As(err, new(*stream.MemoryError)) {
			return nil, err
		}
		return nil, stream.Dataf(p.catalog.FileName(fileIndex), "cannot be read for copying: %w", err)
	}
	return src, nil
}

// checkColumnsFit refuses an output whose schema and footer do not fit into memory because it has too many leaf
// columns. It uses a lower bound of this size, which omits the names of the columns and counts only one row group.
// Without this check, the schema of 140,000 columns took 315 MiB, more than the limit of 200 MiB, before the first
// column was copied.
func (p *plan) checkColumnsFit(leaves int) error {
	groups := int64(0)
	if p.opt.Form == FormParquet {
		groups = min(p.catalog.Rows, 1)
	}
	need := p.heldBytes() + p.catalog.OpenBytes + writer.FooterBytes(int64(leaves), 0, 0, groups)
	if need <= p.opt.Memory {
		return nil
	}
	return &stream.MemoryError{What: fmt.Sprintf("writing %d columns", leaves), Need: need, Limit: p.opt.Memory, AtLeast: true}
}

// sparseNumberType returns the type of the dense columns that are made from sparse rows: the type of the sparse values
// if float64 represents all numbers of this type exactly, else double.
func (p *plan) sparseNumberType() writer.Number {
	return writer.NumberOf(elementTypeOfList(p.catalog.Leaves[p.sparse.Values]))
}
