package pipeline

import (
	"github.com/ufs-stream/ufs-stream/chunkio/internal/cache"
	"github.com/ufs-stream/ufs-stream/stream"
)

// joinKeep returns the indices of t's columns among the columns of Options.Keep if a pass of t can use it. adds is set
// if the pass adds its decoded row groups.
func joinKeep(t *Table) (at columnPlaces, adds bool) {
	f := t.Features
	if t.Options.Keep == nil || t.Pipe != nil || t.Sparse != nil || f.Label != nil {
		return columnPlaces{}, false
	}
	rows := cache.RowSelection{Catalog: t.Catalog, HasRemote: t.Catalog.HasRemote, Weight: t.Options.Weight, Sample: t.Options.Sample}
	if rows.Sample > 0 {
		rows.Seed = t.Options.Seed
	}
	var columns []cache.Element
	for _, r := range f.StoredReads() {
		for e := range r.Cols {
			if r.IsStored(e) {
				columns = append(columns, cache.Element{Leaf: r.Leaf, Index: e})
			}
		}
	}
	found, joins, adds := cache.JoinPass(t.Options.Keep, rows, columns)
	if !joins {
		return columnPlaces{}, false
	}
	for i, r := range f.StoredReads() {
		places := make([]int, len(r.Cols))
		for e := range r.Cols {
			if r.IsStored(e) {
				places[e], found = found[0], found[1:]
			}
		}
		switch {
		case i < len(f.Reads):
			at.reads = append(at.reads, places)
		case r == f.Weight:
			at.weight = places
		default:
			at.target = places
		}
	}
	at.hasJoined = true
	return at, adds
}

// columnPlaces contains the indices that the columns of a pass have among the kept columns, according to Keep.places.
type columnPlaces struct {
	hasJoined bool
	reads     [][]int // by read and element
	weight    []int
	target    []int
}

func (k *columnPlaces) keptIndicesOfRead(readIndex int) []int {
	if !k.hasJoined {
		return nil
	}
	return k.reads[readIndex]
}

// groupInKeep returns the kept columns of a row group if the pass can use them, or nil.
func (p *pass) groupInKeep(at rowGroup) *cache.Group {
	if !p.places.hasJoined {
		return nil
	}
	return cache.HeldGroup(p.table.Options.Keep, cache.Key{File: at.fileIndex, Index: at.index})
}

// Keeps predicts the contents of a Keep of limit bytes after a pass that may use memory bytes, from the types of the
// columns. total is the number of row groups of the files, groups is the smallest number of them that the Keep will
// contain, and bytes is the largest size of the Keep. All results are 0 if passes of t keep nothing.
func (t *Table) Keeps(memory, limit int64) (groups, total int, bytes int64) {
	if t.Pipe != nil || t.Sparse != nil || t.Features.Label != nil {
		return 0, 0, 0
	}
	var widths []int64
	wide := 0
	for _, r := range t.Features.StoredReads() {
		for e := range r.Cols {
			if r.IsStored(e) {
				l := &t.Catalog.Leaves[r.Leaf]
				width := cache.KeptWidth(l.Type, l.Nulls != 0)
				if widths = append(widths, width); width == 8 {
					wide++
				}
			}
		}
	}
	height := int64(stream.BlockRows(len(t.Features.Columns)))
	if l, err := MemoryNeeds(t, memory).choosePlan(memory, t.Options.Threads); err == nil {
		height = l.rows
	}
	tooWide, all := !t.Catalog.HasRemote && 2*wide > len(widths), int64(0)
	sizes := map[int64]int64{} // size of a row group by its number of rows
	for i := range t.Catalog.Files {
		for _, rows := range t.Catalog.Files[i].Groups {
			size, ok := sizes[rows]
			if !ok {
				size = cache.KeptOverhead
				for from := int64(0); from < rows; from += height {
					n := min(height, rows-from)
					size += cache.KeptOverhead + cache.AllocationBytes((n+63)/64*8)
					for _, w := range widths {
						size += cache.KeptColumn + cache.AllocationBytes(w*n)
					}
				}
				sizes[rows] = size
			}
			all += size
			if total++; !tooWide && groups == total-1 && bytes+size <= limit {
				groups, bytes = groups+1, bytes+size
			}
		}
	}
	if groups < total { // values may be narrower than their types
		bytes = max(min(limit, all), 0)
	}
	return groups, total, bytes
}
