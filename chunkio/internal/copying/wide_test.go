package copying

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// wideFile is an Arrow file of one row and the given number of columns, lists or numbers.
func wideFile(t *testing.T, columns int, lists bool) string {
	t.Helper()
	number := array.NewFloat64Builder(memory.DefaultAllocator)
	number.Append(1)
	value, typ := number.NewArray(), arrow.PrimitiveTypes.Float64
	if lists {
		typ = arrow.ListOf(typ)
		list := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Float64)
		list.AppendNull()
		value = list.NewArray()
	}
	fields, arrays := make([]arrow.Field, columns), make([]arrow.Array, columns)
	for i := range fields {
		fields[i], arrays[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: typ, Nullable: true}, value
	}
	path := filepath.Join(t.TempDir(), "wide.arrow")
	record := array.NewRecord(arrow.NewSchema(fields, nil), arrays, 1)
	must.Do(t, os.WriteFile(path, formattest.WriteArrow(t, false, []arrow.Record{record}), 0o600))
	return path
}

// TestWideColumnsAreCounted: copying more columns than the memory has room for is refused before their schema is
// made. The memory that the refusal names suffices, or is raised if it is named as the least.
func TestWideColumnsAreCounted(t *testing.T) {
	const columns, limit = 20_000, 30 << 20
	in, out := wideFile(t, columns, false), filepath.Join(t.TempDir(), "out.parquet")
	var err error
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = ConvertInputs(t.Context(), []string{in}, out, ApplyOptions{Memory: limit})
	runtime.ReadMemStats(&after)
	short, ok := errors.AsType[*stream.MemoryError](err)
	if !ok || !short.AtLeast || short.Need < 3000*columns || short.Limit != limit {
		t.Fatalf("%v, want a need of %d bytes and more", err, 3000*columns)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > limit {
		t.Errorf("%d bytes were allocated before the refusal, in %d", took, limit)
	}
	for tries := 0; ok && tries < 3; tries++ {
		_, err = ConvertInputs(t.Context(), []string{in}, out, ApplyOptions{Memory: short.Need})
		short, ok = errors.AsType[*stream.MemoryError](err)
	}
	must.Do(t, err)
	if got := must.Get(dataset.OpenInputs(t.Context(), []string{out}, settings.Options{}))(t); len(got.Columns()) != columns {
		t.Errorf("%d columns were written, want %d", len(got.Columns()), columns)
	}
}

// countingContext counts the questions whether it has ended, and ends after a number of them.
type countingContext struct {
	context.Context //nolint:containedctx // it is one
	asked           atomic.Int64
	ends            int64
}

func (c *countingContext) Err() error {
	if n := c.asked.Add(1); c.ends > 0 && n > c.ends {
		return context.Canceled
	}
	return c.Context.Err()
}

// TestColumnsHearTheEnd: every loop over columns looks whether the run has ended, so that it does wherever it is.
func TestColumnsHearTheEnd(t *testing.T) {
	const columns = 500
	for _, lists := range []bool{false, true} {
		in := wideFile(t, columns, lists)
		whole := &countingContext{Context: t.Context()}
		_, err := ConvertInputs(whole, []string{in}, filepath.Join(t.TempDir(), "out.parquet"), ApplyOptions{})
		must.Do(t, err)
		all := whole.asked.Load()
		if all < 5*columns {
			t.Errorf("lists %v: copying %d columns looks %d times, want 5 for each", lists, columns, all)
		}
		for ends := int64(1); ends < all; ends += all/40 + 1 {
			cut := &countingContext{Context: t.Context(), ends: ends}
			_, err := ConvertInputs(cut, []string{in}, filepath.Join(t.TempDir(), "out.parquet"), ApplyOptions{})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("lists %v: ended after %d looks of %d: %v", lists, ends, all, err)
			}
			if more := cut.asked.Load() - ends; more > 100 {
				t.Errorf("lists %v: %d more looks after the end, at %d of %d", lists, more, ends, all)
			}
		}
	}
}

// scratchCounter counts how many columns it was asked the scratch of.
type scratchCounter struct {
	copier.Source
	columns int
}

func (s *scratchCounter) Scratch(_ int, columns []copier.Column, workers int) (int64, error) {
	s.columns += len(columns)
	return int64(1000 * workers), nil
}

// TestScratchIsFoundOnce: however many windows the columns of a row group are copied in, their scratch memory is
// found once for each number of workers.
func TestScratchIsFoundOnce(t *testing.T) {
	s, columns := &scratchCounter{}, make([]copier.Column, 700)
	scratch := memoizeScratchBytes(s, 0, columns)
	for range 100 {
		for _, workers := range []int{4, 2} {
			if bytes, err := scratch(workers); bytes != int64(1000*workers) || err != nil {
				t.Fatalf("%d bytes for %d workers, %v", bytes, workers, err)
			}
		}
	}
	if s.columns != 2*len(columns) {
		t.Errorf("%d columns were looked at, want %d", s.columns, 2*len(columns))
	}
}
