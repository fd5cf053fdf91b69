package cache

import (
	"slices"
	"sync"
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
	rows      RowSelection
	places    map[Element]int // index of every kept column; set by the first pass, like rows
	groups    map[Key]*Group
	order     []*Group // in the order of their completion
}

// RowSelection is equal for two passes if they read the same rows: of the same files, with the same weights and sample.
type RowSelection struct {
	Catalog   any // identifies the files
	HasRemote bool
	Weight    string
	Sample    int64
	Seed      uint64
}

// Element is a column of a Keep: element Index of the lists of a leaf. Index is 0 for a leaf that has no lists.
type Element struct{ Leaf, Index int }

// Key identifies a row group by its file in the catalog and its index in the file.
type Key struct{ File, Index int }

// NewKeep implements chunkio.NewKeep: it returns an empty Keep of at most limit bytes.
func NewKeep(limit int64) *Keep {
	return &Keep{limit: limit, groups: map[Key]*Group{}}
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

// JoinPass returns the indices of the columns among the columns of k if a pass over these rows can use k. adds is set
// if the pass adds its decoded row groups, until it calls EndAdding.
func JoinPass(k *Keep, rows RowSelection, columns []Element) (places []int, joins, adds bool) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.places == nil { // only the first pass sets the indices, because running passes use them
		k.rows, k.places = rows, map[Element]int{}
		for _, c := range columns {
			k.places[c] = len(k.places)
		}
	}
	if k.rows != rows {
		return nil, false, false
	}
	for _, c := range columns {
		place, known := k.places[c]
		if !known {
			return nil, false, false
		}
		places = append(places, place)
	}
	if adds = !k.isFull && !k.isFilling && len(columns) == len(k.places); adds {
		k.isFilling = true
	}
	return places, true, adds
}

// HeldGroup returns a kept row group, or nil if k does not hold it.
func HeldGroup(k *Keep, key Key) *Group {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.groups[key]
}

// isTooWide reports whether a row group with this number of float64 columns is not worth keeping, because it is in
// local files and more than half of its columns are float64. Keeping 480 MB of such columns took 0.43 s, mostly for new
// memory pages. Reading them again from files in memory took 0.25 s.
func (k *Keep) isTooWide(columns int) bool {
	return !k.rows.HasRemote && 2*columns > len(k.places)
}

// EndAdding ends the adding of row groups, and subtracts the bytes of incomplete row groups.
func EndAdding(k *Keep) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.isFilling, k.bytes = false, 0
	for _, g := range k.order {
		k.bytes += g.bytes
	}
}

// BeginGroup returns a row group to be filled, or nil if k is full.
func BeginGroup(k *Keep, key Key, rows int64) *Group {
	g := &Group{keep: k, key: key, rows: rows}
	g.rowsLeft.Store(rows)
	k.mutex.Lock()
	full := k.isFull
	k.mutex.Unlock()
	if full || !g.reserveBytes(KeptOverhead) {
		return nil
	}
	return g
}
