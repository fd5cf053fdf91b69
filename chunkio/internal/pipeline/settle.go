package pipeline

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// missingRemedy is the advice for a missing value.
const missingRemedy = "choose {missing} mean, zero or drop-row, or {exclude} the column"

// settleColumn applies the missing-value policy to a decoded column of the span. For a block without missing values it
// makes only one pass, over values that are still in the cache.
func (s *span) settleColumn(col int) {
	x := s.valuesOfColumn(col)
	for b := range s.blockCount() {
		lo, hi := s.blockBounds(b)
		if !kernel.AllFinite(x[lo:hi]) {
			s.settleBlock(col, b, x[:hi], lo)
		}
	}
}

// replaceNullNumbers replaces numbers that are in TextOptions.Nulls by null.
func replaceNullNumbers(t *Table, columns [][]float64) {
	if len(t.nulls) == 0 {
		return
	}
	for _, x := range columns {
		for i, v := range x {
			if slices.Contains(t.nulls, v) {
				x[i] = math.Float64frombits(stream.NullBits)
			}
		}
	}
}

// settleBlock applies the missing-value policy to a column of block b, whose values are x[lo:]: x contains the values
// of the column up to the end of the block.
func (s *span) settleBlock(col, b int, x []float64, lo int) {
	var count stream.MissingCount
	for i := lo; i < len(x); i++ {
		v := x[i]
		if v-v == 0 || isBitSet(s.skip, i) {
			continue
		}
		countMissingValue(&count, v)
		switch s.table.Options.Missing {
		case stream.MissingError:
			s.setMissingFailure(i, col, v)
			return // a failure in a later row of this column cannot be the span's first
		case stream.MissingDropRow:
			setBit(s.drop, i)
		case stream.MissingKeep:
			x[i] = stream.MissingValue(v)
		case stream.MissingZero:
			x[i] = 0
		}
	}
	if count.Total() > 0 {
		s.addMissing(b, col, count)
	}
}

func countMissingValue(count *stream.MissingCount, value float64) {
	switch {
	case format.IsNull(value):
		count.Nulls++
	case math.IsNaN(value):
		count.NaNs++
	default:
		count.Infs++
	}
}

func describeMissingKind(value float64) string {
	switch {
	case format.IsNull(value):
		return "null"
	case math.IsNaN(value):
		return "NaN"
	case value > 0:
		return "+Inf"
	}
	return "-Inf"
}

func (s *span) setMissingFailure(row, col int, value float64) {
	err := fmt.Errorf("%w: %s", stream.ErrMissing, describeMissingKind(value))
	s.setFailure(failure{
		row: s.start + int64(row), column: col,
		err: s.errAtRow(row, s.table.Features.Columns[col].Name, missingRemedy, err),
	})
}

// addMissing counts the missing values in a column of block b. Each column of a block is counted by one worker only, so
// the lock protects only the creation of the block's slice.
func (s *span) addMissing(b, col int, count stream.MissingCount) {
	s.mutex.Lock()
	if s.missing[b] == nil {
		s.missing[b] = make([]stream.MissingCount, len(s.table.Features.Columns))
	}
	counts := s.missing[b]
	s.mutex.Unlock()
	counts[col] = counts[col].Plus(count)
}

// applySample marks the rows outside the sample. It returns false if no row of the span is in the sample.
func applySample(s *span, sample catalog.Sampler) bool {
	if sample.KeepsAllRows() {
		return true
	}
	found := false
	for i := range s.rows {
		if sample.KeepsRow(s.start + int64(i)) {
			found = true
		} else {
			setBit(s.skip, i)
		}
	}
	return found
}

// applyWeights decodes the weights and marks the rows of weight 0. A weight that is missing, infinite or negative is an
// error, unless its row takes no part.
func applyWeights(ctx context.Context, s *span) error {
	name := s.table.Options.Weight
	s.weight = format.Resize(s.weight, s.rows)
	if err := decodeWeightOrTarget(ctx, s, s.table.Features.Weight, s.places.weight, s.weight, name); err != nil {
		return err
	}
	for i, w := range s.weight {
		switch {
		case isBitSet(s.skip, i):
		case w-w != 0:
			return s.errAtRow(i, name, "", fmt.Errorf("the weight is %s", describeMissingKind(w)))
		case w < 0:
			return s.errAtRow(i, name, "", fmt.Errorf("the weight is negative: %v", w))
		case w == 0:
			setBit(s.skip, i)
		}
	}
	return nil
}

func decodeTargets(ctx context.Context, s *span) error {
	s.target = format.Resize(s.target, s.rows)
	if s.table.Features.UsesCodes {
		return codeTargets(ctx, s)
	}
	return decodeWeightOrTarget(ctx, s, s.table.Features.Target, s.places.target, s.target, s.table.Options.Label)
}

func decodeWeightOrTarget(ctx context.Context, s *span, r *schema.ColumnRead, places []int, values []float64, name string) error {
	dst := make([][]float64, len(r.Cols))
	for e, col := range r.Cols {
		if col == 0 {
			dst[e] = values
		}
	}
	leaves := []format.Decoding{{Leaf: s.leafOfRead(r), Dst: dst}}
	if s.decodeLeaves(ctx, leaves); leaves[0].Err != nil {
		return s.placeError(leaves[0].Err, name)
	}
	s.completeRead(r, places, dst)
	return nil
}

// compactBlock moves the remaining rows of block b to its start, in place, and records their positions. Sparse rows
// need not be moved, because only remaining rows were written.
func (s *span) compactBlock(b int) {
	lo, hi := s.blockBounds(b)
	gone := countBits(s.skip, lo, hi, s.drop)
	s.remaining[b] = hi - lo - gone
	if gone == 0 {
		return
	}
	s.positions = format.Resize(s.positions, s.rows)
	kept := s.positions[lo:lo]
	for i := lo; i < hi; i++ {
		if !isBitSet(s.skip, i) && !isBitSet(s.drop, i) {
			kept = append(kept, int64(i))
		}
	}
	if len(kept) > 0 && s.table.Sparse == nil {
		for col := range s.table.Features.ColumnCount() {
			moveKeptRowsToFront(s.valuesOfColumn(col)[lo:hi], kept, lo)
		}
	}
	if len(s.weight) > 0 {
		moveKeptRowsToFront(s.weight[lo:hi], kept, lo)
	}
	if len(s.target) > 0 {
		moveKeptRowsToFront(s.target[lo:hi], kept, lo)
	}
	if len(s.class) > 0 {
		moveKeptRowsToFront(s.class[lo:hi], kept, lo)
	}
	for i := range kept {
		kept[i] += s.start
	}
}

func moveKeptRowsToFront[T any](x []T, keptRows []int64, firstRow int) {
	for i, row := range keptRows {
		x[i] = x[int(row)-firstRow]
	}
}

func isBitSet(set []uint64, bit int) bool { return set[bit/64]>>(bit%64)&1 != 0 }

// setBit adds i to set. Several workers may call it at once.
func setBit(set []uint64, i int) { atomic.OrUint64(&set[i/64], 1<<(i%64)) }

// countBits counts the rows of [lo, hi) that are in set a, in set b or in both. Blocks start at whole words, because
// their height is a multiple of 64.
func countBits(a []uint64, lo, hi int, b []uint64) (n int) {
	for w := lo / 64; w < (hi+63)/64; w++ {
		n += bits.OnesCount64(a[w] | b[w])
	}
	return n
}

func areFirstBitsSet(set []uint64, count int) bool { return countBits(set, 0, count, set) == count }
