package pipeline

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/cache"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Table is the rows of a catalog, read by a schema under some options.
type Table struct {
	Catalog  *catalog.Catalog
	Pipe     *Pipe // the stream on standard input; nil for files
	Options  settings.Options
	Sparse   *schema.Sparse // nil for dense rows
	Features *schema.Features
	nulls    []float64 // numbers that mean a missing value
	factors  []float64 // by feature and hidden column: the factor of Options.RowScale; nil if all are 1
	buffers  spanPool
	classes  classTable
	spool    func() *scratch.Space // returns the scratch space for row groups that do not fit into memory

	samplerWithoutWhere func() catalog.Sampler // samples all rows, ignoring Where; computed by the first pass that needs it
}

// NewTable returns the table of a catalog under some options. The stream p is nil for files.
func NewTable(ctx context.Context, c *catalog.Catalog, p *Pipe, opt settings.Options) (*Table, error) {
	sparse, err := schema.FindSparse(ctx, c, p != nil, opt)
	if err != nil {
		return nil, err
	}
	return newTableOfCatalog(c, p, opt, sparse)
}

// WithOptions returns the table of the same catalog under other options.
func WithOptions(t *Table, opt settings.Options) (*Table, error) {
	if t.Sparse != nil && t.Options.Sparse == opt.Sparse {
		return newTableOfCatalog(t.Catalog, t.Pipe, opt, t.Sparse)
	}
	return NewTable(context.Background(), t.Catalog, t.Pipe, opt)
}

func newTableOfCatalog(c *catalog.Catalog, p *Pipe, opt settings.Options, sparse *schema.Sparse) (*Table, error) {
	if p != nil && opt.Sample > 0 {
		return nil, stream.Usagef("{rows} needs to know the number of rows beforehand, which a stream does not provide; save it to a file first")
	}
	if p != nil && opt.Classes && !p.keepsTexts {
		return nil, stream.Usagef("the classes of a stream must be requested when it is opened; save it to a file first")
	}
	if p != nil && opt.Times && !p.keepsTexts {
		return nil, stream.Usagef("the times of a stream must be requested when it is opened; save it to a file first")
	}
	f, err := schema.ResolveFeatures(c, opt, sparse)
	if err != nil {
		return nil, err
	}
	if err := schema.CheckFilterColumns(c, sparse); err != nil {
		return nil, err
	}
	d := &Table{Catalog: c, Pipe: p, Options: opt, Sparse: sparse, Features: f, nulls: intake.NumbersAmong(opt.Texts.Nulls)}
	if factor := opt.RowScale.Factor; factor != nil {
		for i := range f.ColumnCount() {
			d.factors = append(d.factors, factor(f.ColumnName(i)))
		}
	}
	d.spool = sync.OnceValue(func() *scratch.Space { return scratch.New(opt.Spool) })
	d.samplerWithoutWhere = sync.OnceValue(func() catalog.Sampler { return catalog.NewSampler(opt.Seed, opt.Sample, c.Rows) })
	return d, nil
}

// Check returns the error that Chunks would return before reading any row: a requested column cannot be decoded, or
// there are no features, or there are no rows.
func (t *Table) Check() error {
	if t.Features.Refusal != nil {
		return t.Features.Refusal
	}
	if t.Pipe == nil && t.Catalog.Rows == 0 && t.Options.TableSince == nil { // there may be no changes
		return stream.Dataf(t.Catalog.InputName(), "the input has no rows")
	}
	return nil
}

// Columns implements stream.Source. The caller must not change the slice.
func (t *Table) Columns() []stream.Column { return t.Features.Columns }

// Rows implements stream.Source. It counts all rows of the files that are read, including rows for which Options.Where
// is not true. For a shard it is the number of rows of the whole plan.
func (t *Table) Rows() int64 { return t.Catalog.Rows }

// Cuts implements stream.Source: it returns the global positions at which a range of rows may begin or end.
func (t *Table) Cuts() []int64 {
	if t.Pipe != nil {
		return nil
	}
	return t.Catalog.GroupCuts()
}

// Chunks implements stream.Source; the package comment describes it. It fails with a MemoryError if Options.Memory is
// below MinMemory.
func (t *Table) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		if err := runPass(ctx, t, r, func(c *stream.Chunk) bool { return yield(c, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// Positions returns the number of positions in the input: see [stream.Position].
func (t *Table) Positions() int { return schema.CountPositions(t.Catalog, t.Sparse) }

// LeftOut lists every column that is not a feature, with the reason, in column order.
func (t *Table) LeftOut() []stream.LeftOut { return t.Features.LeftOut }

// Fields yields every column, feature or not.
func (t *Table) Fields() iter.Seq[schema.Field] {
	return schema.DescribeFields(t.Catalog, t.Options, t.Sparse)
}

// WithNulls returns the number of features that contain nulls according to the footers of the files.
func (t *Table) WithNulls() int { return t.Features.WithNulls }

// Singles reports whether a float32 can represent every value of every feature, judged by the types of the features.
func (t *Table) Singles() bool {
	return !t.Options.RowScale.IsSet() && !slices.ContainsFunc(t.Features.Columns, func(c stream.Column) bool { return cache.KeptWidth(c.Type, true) > 4 })
}

// Replayable reports whether Chunks can be called more than once.
func (t *Table) Replayable() bool { return t.Pipe == nil }

// DropBuffers frees the buffers of the last pass and the columns held by Options.Keep.
func DropBuffers(t *Table) {
	t.buffers.dropSpans()
	t.Options.Keep.Drop()
}

// Classes returns the names of the classes, indexed by Chunk.Class, in the order of their first rows. The list is
// complete once a pass has ended. It lacks classes whose rows were not delivered. Later passes keep these numbers, so
// that a class has the same number in every Chunk of the Dataset.
func (t *Table) Classes() []string {
	t.classes.mutex.Lock()
	defer t.classes.mutex.Unlock()
	return slices.Clone(t.classes.names)
}

// RowEntries returns the number of entries for which memory is planned in a sparse row, or 0 for dense rows. It is one
// and a half times the average of the densest row group in the metadata, because a block may be denser than its row
// group, but at least 100.
func (t *Table) RowEntries() int64 { return t.Sparse.RowEntries(t.Catalog.Leaves) }
