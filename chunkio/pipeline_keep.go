package chunkio

import (
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Keep holds decoded row groups, so that later passes over the same files need not read and decode them: whole row
// groups, in their order, until a number of bytes is spent. A row group is never replaced by another. Local row groups
// whose columns mostly need float64 are not worth keeping: keeping ends at the first one. Values are held before any
// policy acts on them, each column of a span in the narrowest form that converts back to the same bits (see
// narrowestForm), so that no result depends on the contents of a Keep.
//
// Passes share it through [Options].Keep. They take part if they are of the same Open, sample and weights, and have no
// columns that the first one lacks; sparse rows, classes and streams take no part. Several passes may use a Keep at a
// time, and one of them adds to it.
type Keep struct {
	mutex     sync.Mutex
	limit     int64
	bytes     int64 // of all row groups below, and of groups that are being decoded
	isFull    bool  // a row group did not fit, or no later pass will come
	isFilling bool  // a pass is adding
	rows      rowSelection
	places    map[element]int // of every column that is held; set by the first pass, like rows
	groups    map[keptKey]*keptGroup
	order     []*keptGroup // in the order of their completion
}

// rowSelection identifies passes with the same rows.
type rowSelection struct {
	catalog *catalog
	weight  string
	sample  int64
	seed    uint64
}

type element struct{ leaf, index int }

type keptKey struct{ file, index int }

// NewKeep returns an empty Keep of at most limit bytes.
func NewKeep(limit int64) *Keep {
	return &Keep{limit: limit, groups: map[keptKey]*keptGroup{}}
}

// HeldGroups returns the number of row groups that are kept, and their bytes. All methods of a nil Keep do nothing.
func (k *Keep) HeldGroups() (groups int, bytes int64) {
	if k == nil {
		return 0, 0
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return len(k.order), k.bytes
}

// Settle announces that the next pass is the last one: nothing more is added, and the row groups that exceed limit
// bytes are dropped, the last ones first.
func (k *Keep) Settle(limit int64) {
	if k == nil {
		return
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.isFull = true
	for k.bytes > max(limit, 0) && len(k.order) > 0 {
		last := k.order[len(k.order)-1]
		k.order = slices.Delete(k.order, len(k.order)-1, len(k.order))
		delete(k.groups, last.key)
		k.bytes -= last.bytes
	}
}

// Drop drops all row groups, and nothing more is added.
func (k *Keep) Drop() { k.Settle(0) }

// joinPass returns the indices of d's columns in k if a pass of d can use k. adds is set if the pass adds its decoded
// row groups, until it calls endAdding.
func (k *Keep) joinPass(d *Dataset) (at columnPlaces, adds bool) {
	f := d.features
	if k == nil || d.pipe != nil || d.sparse != nil || f.label != nil {
		return columnPlaces{}, false
	}
	rows := rowSelection{catalog: d.catalog, weight: d.opt.Weight, sample: d.opt.Sample}
	if rows.sample > 0 {
		rows.seed = d.opt.Seed
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.places == nil { // set only once: running passes use them
		k.rows, k.places = rows, map[element]int{}
		for _, r := range f.storedReads() {
			for e := range r.cols {
				if r.leaf >= 0 && r.hostFeature(e) >= 0 {
					k.places[element{r.leaf, e}] = len(k.places)
				}
			}
		}
	}
	if k.rows != rows {
		return columnPlaces{}, false
	}
	columns := 0
	for i, r := range f.storedReads() {
		places := make([]int, len(r.cols))
		for e := range r.cols {
			if r.leaf < 0 || r.hostFeature(e) < 0 {
				continue
			}
			place, known := k.places[element{r.leaf, e}]
			if !known {
				return columnPlaces{}, false
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
	at.hasJoined = true
	if adds = !k.isFull && !k.isFilling && columns == len(k.places); adds {
		k.isFilling = true
	}
	return at, adds
}

type columnPlaces struct {
	hasJoined bool
	reads     [][]int // by read and element
	weight    []int
	target    []int
}

func (k *columnPlaces) readPlaces(index int) []int {
	if !k.hasJoined {
		return nil
	}
	return k.reads[index]
}

// groupInKeep returns a row group that is held for the pass, or nil.
func (p *pass) groupInKeep(at rowGroup) *keptGroup {
	if !p.places.hasJoined {
		return nil
	}
	k := p.d.opt.Keep
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.groups[keptKey{at.fileIndex, at.index}]
}

// storedReads lists the reads whose values are held: the features, then the weights and the targets.
func (f *features) storedReads() []*columnRead {
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

// isTooWide reports whether a row group with this number of float64 columns is not worth keeping: more than half of the
// columns, in local files. Reading 480 MB of such columns again from files in memory took 0.25 s. Keeping them took
// 0.43 s, mostly for new memory pages.
func (k *Keep) isTooWide(columns int) bool {
	return !k.rows.catalog.hasRemote && 2*columns > len(k.places)
}

// endAdding ends adding and drops incomplete row groups.
func (k *Keep) endAdding() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.isFilling, k.bytes = false, 0
	for _, g := range k.order {
		k.bytes += g.bytes
	}
}

// beginGroup returns a row group to be filled, or nil if k is full.
func (k *Keep) beginGroup(at rowGroup) *keptGroup {
	g := &keptGroup{keep: k, key: keptKey{at.fileIndex, at.index}, rows: at.rows}
	g.rowsLeft.Store(at.rows)
	k.mutex.Lock()
	full := k.isFull
	k.mutex.Unlock()
	if full || !g.reserve(keptOverhead) {
		return nil
	}
	return g
}

// Keeps predicts the contents of a Keep of limit bytes after a pass with the given memory, by the types of the columns:
// it contains at least the given groups, of all row groups (of), and at most the given bytes. All are 0 if passes of d
// keep nothing.
func (d *Dataset) Keeps(memory, limit int64) (groups, of int, bytes int64) {
	if d.pipe != nil || d.sparse != nil || d.features.label != nil {
		return 0, 0, 0
	}
	var widths []int64
	wide := 0
	for _, r := range d.features.storedReads() {
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
	if l, err := d.memoryNeeds(memory).choosePlan(memory, d.opt.Threads); err == nil {
		height = l.rows
	}
	tooWide, all := !d.catalog.hasRemote && 2*wide > len(widths), int64(0)
	sizes := map[int64]int64{} // bytes by the number of rows
	for i := range d.catalog.files {
		for _, rows := range d.catalog.files[i].groups {
			size, ok := sizes[rows]
			if !ok {
				size = keptOverhead
				for from := int64(0); from < rows; from += height {
					n := min(height, rows-from)
					size += keptOverhead + allocationBytes((n+63)/64*8)
					for _, w := range widths {
						size += keptColumn + allocationBytes(w*n)
					}
				}
				sizes[rows] = size
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
