package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxCategoryBytes is the greatest length in bytes of a category's text. A column with a longer text has no categories.
const maxCategoryBytes = 256

// Categories reads the named columns, or with no names all columns of text, and lists the values of each column in all
// rows. It skips row groups only if partition keys or statistics show that no row matches Where. A column with more
// than limit values gets a Why in place of values, and is not read further. The result is in the order of the names and
// does not depend on the order of rows. No other column is read.
func (t *Table) Categories(ctx context.Context, columns []string, limit int) ([]settings.Category, error) {
	if t.Pipe != nil {
		return nil, stream.Usagef("{categorical} reads the columns of text first, and a stream can be read only once; save it to a file first")
	}
	leaves, err := leavesForCategories(t, columns)
	if err != nil {
		return nil, err
	}
	counts := make([]*categoryCount, len(leaves))
	scratch := int64(1)
	for k, l := range leaves {
		counts[k] = &categoryCount{leaf: l, limit: limit, seen: map[string]struct{}{}}
		scratch = max(scratch, t.Catalog.Leaves[l].TextScratch)
	}
	used := t.Catalog.MemoryBytes() + t.Catalog.OpenBytes
	if need := used + scratch; len(leaves) > 0 && need > t.Options.Memory {
		return nil, &stream.MemoryError{What: "reading columns of text", Need: need, Limit: t.Options.Memory}
	}
	workers := max(1, min(t.Options.Threads, int((t.Options.Memory-used)/scratch)))
	for i := range t.Catalog.Files {
		if err := countFileCategories(ctx, t, i, workers, counts); err != nil {
			return nil, err
		}
	}
	var found []settings.Category
	for _, c := range counts {
		found = append(found, c.toCategory(t.Catalog.Leaves[c.leaf]))
	}
	slices.SortFunc(found, func(a, b settings.Category) int { return strings.Compare(a.Column, b.Column) })
	return found, nil
}

func leavesForCategories(t *Table, columns []string) (leaves []int, err error) {
	var names []string
	for i, l := range t.Catalog.Leaves {
		names = append(names, l.Name)
		if columns == nil && (l.Type == "string" || l.Type == "enum") && l.NoClass == "" && l.Name != t.Options.Label && (!l.Index || len(t.Options.Columns) > 0) {
			leaves = append(leaves, i)
		}
	}
	for _, name := range columns {
		at := slices.Index(names, name)
		switch {
		case at < 0 && slices.ContainsFunc(t.Catalog.Parts, func(p catalog.Partition) bool { return p.Key == name }):
			return nil, stream.Usagef("{categorical} %s: it is a partition key, of which no categories are made", name)
		case at < 0:
			return nil, stream.Usagef("{categorical} %s: no column has this name%s", name, suggest.DidYouMean(name, names))
		case name == t.Options.Label || name == t.Options.Weight:
			return nil, stream.Usagef("{categorical} %s: it is the {label} or {weight}, and so no feature", name)
		case naming.HaveSharedName(t.Catalog.Leaves[at]):
			return nil, naming.ErrAmbiguous("categorical", name)
		case t.Catalog.Leaves[at].List || t.Catalog.Leaves[at].NoClass != "":
			return nil, stream.Usagef("{categorical} %s: it has no categories: it is %s", name, t.Catalog.Leaves[at].Type)
		case !slices.Contains(leaves, at):
			leaves = append(leaves, at)
		}
	}
	return leaves, nil
}

// categoryCount collects the distinct values of one column.
type categoryCount struct {
	leaf, limit int
	seen        map[string]struct{}
	why         string // the reason that the column has no categories
}

var errTooManyCategories = errors.New("too many categories")

func countFileCategories(ctx context.Context, t *Table, fileIndex, workers int, counts []*categoryCount) error {
	f := &t.Catalog.Files[fileIndex]
	opened, in, err := t.Catalog.ReopenFile(ctx, fileIndex, t.Options.Memory, t.Options.Meter)
	if err != nil {
		return err
	}
	defer opened.Close()
	fetch := storage.NewFetcher(storage.SpoolRequestBytes, t.spool())
	for g, rows := range f.Groups {
		var alive []*categoryCount
		var leaves []int
		for _, c := range counts {
			if here := f.LeafIndex(c.leaf); c.why == "" && here >= 0 {
				alive, leaves = append(alive, c), append(leaves, here)
			}
		}
		if len(alive) == 0 || rows == 0 || f.Outcomes != nil && f.Outcomes[g].MatchesNone() {
			continue
		}
		group, release, err := fetch.OpenGroup(ctx, opened, in, g, leaves)
		if err != nil {
			return err
		}
		work, within := errgroup.WithContext(ctx)
		work.SetLimit(workers)
		for k, c := range alive {
			work.Go(func() error {
				err := c.countGroupValues(within, group, leaves[k], rows)
				return format.PlaceError(t.Catalog.FileName(fileIndex), g, t.Catalog.Leaves[c.leaf].Name, err)
			})
		}
		err = work.Wait()
		release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *categoryCount) countGroupValues(ctx context.Context, group format.Group, leaf int, rows int64) error {
	memo := textMemo[struct{}]{limit: math.MaxInt, compute: func(value []byte) (none struct{}, err error) {
		if _, ok := c.seen[string(value)]; ok { // this conversion allocates no string
			return none, nil
		}
		if c.why = c.whyNoCategory(len(value)); c.why != "" {
			return none, errTooManyCategories
		}
		c.seen[string(value)] = struct{}{}
		return none, nil
	}}
	err := group.DecodeTexts(ctx, leaf, 0, rows, func(ids []int32, values *text.List) error {
		for _, id := range ids {
			if id < 0 {
				continue
			}
			if _, err := memo.resultForEntry(values, id); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errTooManyCategories) {
		c.seen = nil
		return nil
	}
	return err
}

// whyNoCategory returns the reason that the column has no categories if a further value of size bytes is added, or ""
// if it still has categories.
func (c *categoryCount) whyNoCategory(size int) string {
	switch {
	case size > maxCategoryBytes:
		return fmt.Sprintf("values longer than %d bytes", maxCategoryBytes)
	case len(c.seen) == c.limit:
		return fmt.Sprintf("more than %d distinct values", c.limit)
	}
	return ""
}

func (c *categoryCount) toCategory(leaf format.Leaf) settings.Category {
	found := settings.Category{Column: leaf.Name, Why: c.why}
	for value := range c.seen {
		found.Values = append(found.Values, value)
	}
	if slices.Sort(found.Values); len(found.Values) == 0 && c.why == "" {
		found.Why = "no value in any row"
	}
	return found
}

func decodeCategoryFeatures(ctx context.Context, s *span, r *schema.ColumnRead, dst [][]float64) error {
	for _, x := range dst {
		clear(x)
	}
	memo := textMemo[int32]{limit: maxMemo, compute: func(value []byte) (int32, error) {
		if k, ok := r.Derivation.Categories[string(value)]; ok { // this conversion allocates no string
			return k, nil
		}
		return -1, nil
	}}
	return s.decodeTexts(ctx, r.Leaf, func(row int, id int32, values *text.List) error {
		if id < 0 {
			return nil
		}
		k, err := memo.resultForEntry(values, id)
		if k >= 0 && dst[k] != nil {
			dst[k][row] = 1
		}
		return err
	})
}
