package chunkio

import (
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Keep holds what passes have decoded, so that later passes over the same files read and
// decode it no more: whole row groups, in their order, until a number of bytes is spent. None
// gives way to another. Row groups of local files of which most columns need float64 are not worth it:
// keeping ends at the first. Values are held before any policy acts on them, each column of a span
// in the narrowest form that converts back to the same bits (see narrowest), so that no result
// depends on what is held.
//
// Passes share it through [Options].Keep. They take part if they are of the same Open, sample
// and weights, and hold no columns but those of the first one; sparse rows, classes and
// streams take no part. Several passes may use a Keep at a time, of which one adds to it.
type Keep struct {
	mutex   sync.Mutex
	limit   int64
	bytes   int64 // of everything below, and of groups that are being decoded
	full    bool  // a row group did not fit, or no later pass will come
	filling bool  // a pass is adding
	of      keptRows
	places  map[element]int // of every column that is held; of the first pass, as of is
	groups  map[keptKey]*keptGroup
	order   []*keptGroup // as they were complete
}

// keptRows tells passes whose rows take part alike.
type keptRows struct {
	catalog *catalog
	weight  string
	sample  int64
	seed    uint64
}

// element is one column of a leaf.
type element struct{ leaf, index int }

// keptKey is a row group of a catalog.
type keptKey struct{ file, index int }

// NewKeep returns an empty Keep of at most limit bytes.
func NewKeep(limit int64) *Keep {
	return &Keep{limit: limit, groups: map[keptKey]*keptGroup{}}
}

// Held is the number of row groups that are kept, and the bytes that they take. A nil Keep
// holds nothing, here and below.
func (k *Keep) Held() (groups int, bytes int64) {
	if k == nil {
		return 0, 0
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return len(k.order), k.bytes
}

// Settle says that the pass to come is the last one: nothing more is added, and the row groups
// that go beyond limit bytes are given up, the last ones first.
func (k *Keep) Settle(limit int64) {
	if k == nil {
		return
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.full = true
	for k.bytes > max(limit, 0) && len(k.order) > 0 {
		last := k.order[len(k.order)-1]
		k.order = slices.Delete(k.order, len(k.order)-1, len(k.order))
		delete(k.groups, last.key)
		k.bytes -= last.bytes
	}
}

// Drop gives everything up, and nothing more is added.
func (k *Keep) Drop() { k.Settle(0) }

// join returns where a pass of d finds its columns in k, if it takes part, and whether it adds what
// it decodes, which leave ends.
func (k *Keep) join(d *Dataset) (at keptPlaces, adds bool) {
	f := d.features
	if k == nil || d.pipe != nil || d.sparse != nil || f.label != nil {
		return keptPlaces{}, false
	}
	of := keptRows{catalog: d.catalog, weight: d.opt.Weight, sample: d.opt.Sample}
	if of.sample > 0 {
		of.seed = d.opt.Seed
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.places == nil { // never again: passes under way know them
		k.of, k.places = of, map[element]int{}
		for _, r := range f.kept() {
			for e := range r.cols {
				if r.leaf >= 0 && r.hostFeature(e) >= 0 {
					k.places[element{r.leaf, e}] = len(k.places)
				}
			}
		}
	}
	if k.of != of {
		return keptPlaces{}, false
	}
	columns := 0
	for i, r := range f.kept() {
		places := make([]int, len(r.cols))
		for e := range r.cols {
			if r.leaf < 0 || r.hostFeature(e) < 0 {
				continue
			}
			place, known := k.places[element{r.leaf, e}]
			if !known {
				return keptPlaces{}, false
			}
			places[e] = place
			columns++
		}
		switch {
		case i < len(f.reads):
			at.reads = append(at.reads, places)
		case r == f.weight:
			at.weight = places
		default:
			at.target = places
		}
	}
	at.joined = true
	if adds = !k.full && !k.filling && columns == len(k.places); adds {
		k.filling = true
	}
	return at, adds
}

// keptPlaces are the places of a pass's columns in a piece.
type keptPlaces struct {
	joined bool
	reads  [][]int // by read and element
	weight []int
	target []int
}

// read are the places of a read's elements.
func (k *keptPlaces) read(index int) []int {
	if !k.joined {
		return nil
	}
	return k.reads[index]
}

// inKeep returns a row group that is held for the pass, or nil.
func (p *pass) inKeep(at rowGroup) *keptGroup {
	if !p.places.joined {
		return nil
	}
	k := p.d.opt.Keep
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.groups[keptKey{at.fileIndex, at.index}]
}

// kept lists the reads whose values are held: those of the features, then the weights and the targets.
func (f *features) kept() []*columnRead {
	var reads []*columnRead
	for i := range f.reads {
		reads = append(reads, &f.reads[i])
	}
	if f.weight != nil {
		reads = append(reads, f.weight)
	}
	if f.target != nil {
		reads = append(reads, f.target)
	}
	return reads
}

// tooWide reports whether so many columns of float64 make a row group one that does not pay: of local
// files, more than half of the columns. To read 480 MB of them again, from files in memory, took
// 0.25 s, and to keep them 0.43 s, most of it for fresh pages.
func (k *Keep) tooWide(columns int) bool { return !k.of.catalog.hasRemote && 2*columns > len(k.places) }

// leave ends adding: row groups that are not complete are forgotten.
func (k *Keep) leave() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.filling, k.bytes = false, 0
	for _, g := range k.order {
		k.bytes += g.bytes
	}
}

// begin returns a row group to be filled, or nil where k is full.
func (k *Keep) begin(at rowGroup) *keptGroup {
	g := &keptGroup{keep: k, key: keptKey{at.fileIndex, at.index}, rows: at.rows}
	g.left.Store(at.rows)
	k.mutex.Lock()
	full := k.full
	k.mutex.Unlock()
	if full || !g.take(keptOverhead) {
		return nil
	}
	return g
}

// Keeps predicts what a Keep of limit bytes holds after a pass that reads with the given memory, by
// the types of the columns: row groups at least, of how many, and bytes at most. It is nothing
// where passes of d keep nothing.
func (d *Dataset) Keeps(memory, limit int64) (groups, of int, bytes int64) {
	if d.pipe != nil || d.sparse != nil || d.features.label != nil {
		return 0, 0, 0
	}
	var widths []int64
	wide := 0
	for _, r := range d.features.kept() {
		for e := range r.cols {
			if r.leaf >= 0 && r.hostFeature(e) >= 0 {
				l := &d.catalog.leaves[r.leaf]
				width := keptWidth(l.Type, l.Nulls != 0)
				if widths = append(widths, width); width == 8 {
					wide++
				}
			}
		}
	}
	height := int64(stream.BlockRows(len(d.features.columns)))
	if l, err := d.needs(memory).plan(memory, d.opt.Threads); err == nil {
		height = l.rows
	}
	tooWide, all := !d.catalog.hasRemote && 2*wide > len(widths), int64(0)
	known := map[int64]int64{} // bytes by the number of rows
	for i := range d.catalog.files {
		for _, rows := range d.catalog.files[i].groups {
			size, ok := known[rows]
			if !ok {
				size = keptOverhead
				for from := int64(0); from < rows; from += height {
					n := min(height, rows-from)
					size += keptOverhead + allocated((n+63)/64*8)
					for _, w := range widths {
						size += keptColumn + allocated(w*n)
					}
				}
				known[rows] = size
			}
			all += size
			if of++; !tooWide && groups == of-1 && bytes+size <= limit {
				groups, bytes = groups+1, bytes+size
			}
		}
	}
	if groups < of { // values may be narrower than their types
		bytes = max(min(limit, all), 0)
	}
	return groups, of, bytes
}
