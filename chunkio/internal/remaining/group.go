package remaining

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// allRows is a row group of a Parquet file with the deleted rows.
type allRows interface {
	format.Batched
	format.Ranged
	format.TextKeyed
}

// group is a row group with deleted rows.
type group struct {
	all  allRows
	file *File
	rows *groupRows
}

// Rows are decoded in pieces of at least minPiece rows and, if that allows it, at most maxPieceValues values. Thus the
// values are still in the second-level cache when the remaining ones are moved.
const (
	minPiece       = 64
	maxPieceValues = 8 << 10
)

func (g *group) pieceRows(width int) int64 {
	return min(pieceValues(width)/int64(max(width, 1)), g.rows.all)
}

func pieceValues(width int) int64 { return max(maxPieceValues, minPiece*int64(width)) }

// Close implements format.Group.
func (g *group) Close() { g.all.Close() }

// Extents implements format.Ranged.
func (g *group) Extents(leaves []int) []format.Extent { return g.all.Extents(leaves) }

// Decode implements format.Group.
func (g *group) Decode(ctx context.Context, l int, from, to int64, dst [][]float64) error {
	one := []format.Decoding{{Leaf: l, Dst: dst}}
	g.DecodeAll(ctx, one, from, to)
	return one[0].Err
}

// DecodeAll implements format.Batched. All leaves are decoded in one go, so that no page is read twice.
func (g *group) DecodeAll(ctx context.Context, leaves []format.Decoding, from, to int64) {
	if from >= to {
		return
	}
	size := int64(0)
	for i := range leaves {
		width := len(leaves[i].Dst)
		size = max(size, g.pieceRows(width)*int64(width))
	}
	pooled, _ := g.file.pool.Get().(*[]float64)
	if pooled == nil {
		pooled = new([]float64)
	}
	defer g.file.pool.Put(pooled)
	*pooled = format.Resize(*pooled, int(size)) // for all leaves, which are decoded one after another
	all := make([]format.Decoding, len(leaves))
	for i := range leaves {
		to, written := leaves[i].Dst, 0
		rows := g.pieceRows(len(to))
		buffers := make([][]float64, len(to))
		for e := range to {
			if to[e] != nil {
				buffers[e] = (*pooled)[int64(e)*rows:][:rows]
			}
		}
		all[i] = format.Decoding{Leaf: leaves[i].Leaf, Dst: buffers, PieceRows: rows, Take: func(from, end int64) {
			moved := 0
			for e, column := range to {
				if column != nil {
					moved = moveKept(g.rows, column[written:], buffers[e][:end-from], from)
				}
			}
			written += moved
		}}
	}
	g.all.DecodeAll(ctx, all, g.rows.findRow(from), g.rows.findRow(to-1)+1)
	for i := range leaves {
		leaves[i].Err = all[i].Err
	}
}

// DecodeLists implements format.Group.
func (g *group) DecodeLists(ctx context.Context, l int, from, to int64, dst *format.Lists) error {
	return g.decodeLists(from, to, dst, func(from, to int64, piece *format.Lists) error {
		return g.all.DecodeLists(ctx, l, from, to, piece)
	})
}

// DecodeKeys implements format.Group.
func (g *group) DecodeKeys(ctx context.Context, l int, from, to int64, dst *format.Lists) error {
	return g.decodeLists(from, to, dst, func(from, to int64, piece *format.Lists) error {
		return g.all.DecodeKeys(ctx, l, from, to, piece)
	})
}

// DecodeTextKeys implements format.TextKeyed. It calls number only for keys of remaining rows.
func (g *group) DecodeTextKeys(ctx context.Context, l int, from, to int64, number func(key []byte) float64, dst *format.Lists) error {
	var keys [][]byte
	return g.decodeLists(from, to, dst, func(from, to int64, piece *format.Lists) error {
		keys = keys[:0]
		err := g.all.DecodeTextKeys(ctx, l, from, to, func(key []byte) float64 {
			keys = append(keys, slices.Clone(key))
			return float64(len(keys) - 1)
		}, piece)
		if err != nil {
			return err
		}
		for i := range int(to - from) {
			if !g.rows.isDeleted(from + int64(i)) {
				for v, x := range piece.Values[piece.Ptr[i]:piece.Ptr[i+1]] {
					piece.Values[piece.Ptr[i]+v] = number(keys[int(x)])
				}
			}
		}
		return nil
	})
}

// decodeLists decodes the lists of the remaining rows [from, to), piece by piece, and appends them to dst.
func (g *group) decodeLists(from, to int64, dst *format.Lists, decode func(from, to int64, piece *format.Lists) error) error {
	dst.Ptr, dst.Values, dst.Null = append(dst.Ptr[:0], 0), dst.Values[:0], dst.Null[:0]
	var piece format.Lists
	return g.rows.visitPieces(from, to, max((to-from)/16, minPiece), func(at, end int64) error {
		if err := decode(at, end, &piece); err != nil {
			return err
		}
		for i := range int(end - at) {
			if !g.rows.isDeleted(at + int64(i)) {
				dst.Values = append(dst.Values, piece.Values[piece.Ptr[i]:piece.Ptr[i+1]]...)
				dst.Ptr, dst.Null = append(dst.Ptr, len(dst.Values)), append(dst.Null, piece.Null[i])
			}
		}
		return nil
	})
}

// DecodeTexts implements format.Group.
func (g *group) DecodeTexts(ctx context.Context, l int, from, to int64, emit func(ids []int32, values *text.List) error) error {
	if from >= to {
		return nil
	}
	var kept []int32
	at := g.rows.findRow(from)
	return g.all.DecodeTexts(ctx, l, at, g.rows.findRow(to-1)+1, func(ids []int32, values *text.List) error {
		kept = format.Resize(kept, len(ids))
		n := moveKept(g.rows, kept, ids, at)
		if at += int64(len(ids)); n == 0 {
			return nil
		}
		return emit(kept[:n], values)
	})
}
