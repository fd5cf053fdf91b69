package chunkio

import (
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Keep holds decoded row groups, so that later passes over the same files need not read and decode them. It keeps whole
// row groups, in their order, up to a limit of bytes, and never replaces a row group by another. Local row groups whose
// columns mostly need float64 are not worth keeping: keeping ends at the first one. Values are held as they are before
// the missing-value policy is applied. Each column of a span has the narrowest form that converts back to the same bits
// (see narrowestForm). So no result depends on the contents of a Keep.
//
// Passes share it through [Options].Keep. A pass uses it if its Dataset comes from the same Open as in the first pass,
// with the same sample and weights, and has no columns that the first pass lacks. Passes over sparse rows, classes or
// streams do not use it. Several passes may use a Keep at a time, and one of them adds to it.
type Keep struct {
	mutex     sync.Mutex
	limit     int64
	bytes     int64 // bytes of all kept row groups and of row groups that are being decoded
	isFull    bool  // a row group did not fit, or no later pass will come
	isFilling bool  // a pass is adding row groups
	rows      rowSelection
	places    map[leafElement]int // index of every kept column; set by the first pass, like rows
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

// leafElement identifies element index of every value of a leaf; values that are not lists have only element 0.
type leafElement struct{ leaf, index int }

// keptKey identifies a row group by its file in the catalog and its index in the file.
type keptKey struct{ file, index int }

// NewKeep returns an empty Keep of at most limit bytes.
func NewKeep(limit int64) *Keep {
	return &Keep{limit: limit, groups: map[keptKey]*keptGroup{}}
}

// HeldGroups returns the number of kept row groups and their size in bytes. All methods of a nil Keep do nothing.
func (k *Keep) HeldGroups() (groups int, bytes int64) {
	if k == nil {
		return 0, 0
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return len(k.order), k.bytes
}

// Settle announces that the next pass is the last one: nothing more is added. Row groups are dropped, beginning with
// the one that was completed last, until the remaining row groups need at most limit bytes.
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

// joinPass returns the indices of d's columns among the columns of k if a pass of d can use k. adds is set if the pass
// adds its decoded row groups, until it calls endAdding.
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
	if k.places == nil { // only the first pass sets the indices, because running passes use them
		k.rows, k.places = rows, map[leafElement]int{}
		for _, r := range f.storedReads() {
			for e := range r.cols {
				if r.leaf >= 0 && r.hostFeature(e) >= 0 {
					k.places[leafElement{r.leaf, e}] = len(k.places)
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
			place, known := k.places[leafElement{r.leaf, e}]
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

// columnPlaces contains the indices that the columns of a pass have among the kept columns, according to Keep.places.
type columnPlaces struct {
	hasJoined bool
	reads     [][]int // by read and element
	weight    []int
	target    []int
}

func (k *columnPlaces) placesOfRead(index int) []int {
	if !k.hasJoined {
		return nil
	}
	return k.reads[index]
}

// groupInKeep returns the kept columns of a row group if the pass can use them, or nil.
func (p *pass) groupInKeep(at rowGroup) *keptGroup {
	if !p.places.hasJoined {
		return nil
	}
	k := p.d.opt.Keep
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.groups[keptKey{at.fileIndex, at.index}]
}

// storedReads lists the reads whose values a Keep holds: the features, then the weights and the targets.
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

// isTooWide reports whether a row group with this number of float64 columns is not worth keeping, because it is in
// local files and more than half of its columns are float64. Keeping 480 MB of such columns took 0.43 s, mostly for new
// memory pages. Reading them again from files in memory took 0.25 s.
func (k *Keep) isTooWide(columns int) bool {
	return !k.rows.catalog.hasRemote && 2*columns > len(k.places)
}

// endAdding ends the adding of row groups, and subtracts the bytes of incomplete row groups.
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
	if full || !g.reserveBytes(keptOverhead) {
		return nil
	}
	return g
}

// Keeps predicts the contents of a Keep of limit bytes after a pass that may use memory bytes, from the types of the
// columns. total is the number of row groups of the files, groups is the smallest number of them that the Keep will
// contain, and bytes is the largest size of the Keep. All results are 0 if passes of d keep nothing.
func (d *Dataset) Keeps(memory, limit int64) (groups, total int, bytes int64) {
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
	sizes := map[int64]int64{} // size of a row group by its number of rows
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
