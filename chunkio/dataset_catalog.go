package chunkio

import (
	"cmp"
	"context"
	"errors"
	"unsafe"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/where"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// catalog is what the footers of all files tell, made once by openCatalog and never
// changed: every Dataset over the same files shares it. It holds the leaves once,
// and for each file about 150 bytes and 8 bytes a row group; a file whose columns
// stand in another order than in the first file shares that order with others like it.
// Of objects in a store it remembers some footers, and pins the version that was opened.
type catalog struct {
	leaves    []format.Leaf  // in the first file's order, with the facts of all files merged
	refusing  map[int]string // leaves that cannot be decoded, to the first file where that is so
	parts     []partition    // Hive partition columns
	files     []file
	list      *fileList // of the files: where they are
	rows      int64     // in all
	maxGroup  int64     // rows of the tallest row group
	openBytes int64     // most bytes that one open file holds
	warnings  []stream.Text
	open      opener
	tails     *tailCache  // nil where no file can be in a store
	far       bool        // some file is
	filter    *filter     // Options.Where; nil without
	texts     *textTables // rows of files that are no tables; nil where there can be none
	frozen    *frozen     // of a plan file; nil without
	spreads   []extremes  // by leaf; nil where nobody asks
	mixed     bool        // a leaf has other types in other files, or is not in all

	keys *knownKeys // of maps of texts that were read as sparse rows; nil of a stream
}

// file is what stays in memory of one input.
type file struct {
	size    int64
	start   int64   // global position of its first row
	groups  []int64 // rows of each row group
	order   []int32 // dataset leaf → the file's leaf, -1 where it has none; nil where they are the same
	parquet bool    // it is Parquet, or was made to
	digest  uint64  // of its footer: the file is refused if it changed before it is read
	print   uint64  // fingerprint of size, footer, and both ends of its data
	bytes   []int64 // of each row group, for a plan file; nil where none is to be made

	whole    bool            // opening reads it to its end, and its name does not show that
	outcomes []where.Outcome // of each row group, as keys and statistics tell; nil without a condition
}

func (f *file) rows() (n int64) {
	for _, g := range f.groups {
		n += g
	}
	return n
}

// at returns where a leaf of the dataset stands in the file; negative where it is absent, and so
// null in every row.
func (f *file) at(leaf int) int {
	if f.order == nil {
		return leaf
	}
	return int(f.order[leaf])
}

// openCatalog reads the footer of every file, one file at a time. Where bad files are skipped,
// those that cannot be used are left out with a warning; if none can, the first
// one's error is returned, and where it is the store that fails, its error.
func openCatalog(ctx context.Context, list *fileList, f *filter, open opener, how cataloging) (*catalog, error) {
	b := catalogBuilder{
		weigh:   how.weigh,
		union:   how.union,
		unused:  how.unused,
		spreads: how.spreads,
		catalog: &catalog{keys: new(knownKeys), refusing: map[int]string{}, open: open, filter: f, list: list.empty(), warnings: list.warnings},
		orders:  map[string][]int32{},

		textKeys: map[string]bool{},
	}
	var first error
	for i, e := range list.all() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := b.addFile(ctx, list, i, e, how.memory)
		if err == nil {
			continue
		}
		var tooLittle *stream.MemoryError
		var usage *stream.UsageError
		switch {
		case !how.skipBad || errors.As(err, &tooLittle) || errors.Is(err, store.ErrUnavailable):
			return nil, err // what would be left is not what was asked for
		case first == nil:
			first = err
		}
		if errors.As(err, &usage) { // which names no file
			b.warnings = append(b.warnings, stream.Textf("skipped: %s: %v", place.Name(e.path), err))
		} else {
			b.warnings = append(b.warnings, stream.Textf("skipped: %v", err))
		}
	}
	if len(b.files) == 0 {
		return nil, cmp.Or(first, b.fault)
	}
	return b.catalog, b.finish()
}

// cataloging says how footers are read.
type cataloging struct {
	memory  int64                    // bounds one open footer
	skipBad bool                     // leave out files that cannot be used
	weigh   bool                     // note the bytes of row groups
	union   bool                     // columns that a file lacks are null there
	spreads bool                     // note the spreads of leaves
	unused  func(column string) bool // nobody asks for a column; nil for none
}

// catalogBuilder holds what is only needed while footers are read.
type catalogBuilder struct {
	*catalog
	weigh   bool
	union   bool
	unused  func(column string) bool // as cataloging has it
	spreads bool
	sure    bool               // a file with rows is data not by a guess alone
	fault   error              // of a guess that was passed over
	first   int                // the file that the columns are of: the first with rows
	counts  []int              // of leaves, when each file was added: later ones are absent from it
	index   map[leafName]int   // dataset leaf
	orders  map[string][]int32 // column orders seen, so that files share them
	keys    []string           // partition keys
	texts   [][]string         // by key, by file

	textKeys map[string]bool // keys that are also a column of the files, of text there
}

// addFile reads one footer. On error the catalog is as before.
func (b *catalogBuilder) addFile(ctx context.Context, list *fileList, at int, e fileEntry, memory int64) error {
	opened, from, err := b.open(ctx, e, memory, nil)
	if err != nil {
		return err
	}
	defer opened.Close()
	path := from.Name()
	leaves := opened.Leaves()
	if need := opened.HeldBytes() + b.bytesWith(len(leaves)); need > memory {
		return &stream.MemoryError{What: "naming the columns of " + path, Need: need, Limit: memory, AtLeast: true}
	}
	leaves, names := named(leaves)
	if leaves, err = list.fitSchema(path, leaves, names); err != nil {
		return err
	}
	before := len(b.leaves)
	f := file{size: from.Size(), start: b.rows, groups: opened.GroupRows(), digest: opened.FooterDigest(), whole: isOfRows(opened) && !takesLong(path)}
	_, f.parquet = opened.(*parquet.File)
	if f.print, err = fingerprint(from, f.digest); err != nil {
		return err
	}
	keys, parts, err := list.partsOf(at, e.path)
	if err != nil {
		return err
	}
	if err := b.dropKeyColumns(ctx, path, opened, names, keys, parts, memory); err != nil {
		return err
	}
	guess := list.guesses[e.path]
	if b.isPassedOver(path, guess, &f, names) {
		return nil
	}
	first, empty := len(b.files) == 0 || b.rows == 0 && f.rows() > 0, f.rows() == 0
	if first {
		if err = b.beginColumns(path, &f, leaves, names, keys); err != nil && guess {
			b.passOver(path, err)
			return nil
		}
	} else if parts, err = alignParts(path, b.path(b.first), b.keys, keys, parts); err != nil && empty {
		b.warnings = append(b.warnings, stream.Textf("passed over a file without rows: %v", err))
		return nil
	} else if err == nil {
		err = b.matchFile(path, &f, leaves, names)
	}
	if err != nil {
		return err
	}
	if b.filter != nil && !b.union {
		if f.outcomes, err = b.filter.outcomes(list, at, e, opened, f.at); err != nil {
			return err
		}
	}
	if b.weigh {
		f.bytes = weigh(opened, f.outcomes)
	}
	if !first && !empty {
		b.mergeFacts(path, &f, leaves, before)
	}
	b.sure = b.sure || !guess && !empty
	if b.spreads {
		b.addSpreads(opened, &f)
	}
	for i, text := range parts {
		b.texts[i] = append(b.texts[i], text)
	}
	for _, rows := range f.groups {
		b.maxGroup = max(b.maxGroup, rows)
	}
	b.rows += f.rows()
	b.counts = append(b.counts, len(b.leaves))
	held := opened.HeldBytes()
	b.files = append(b.files, f)
	if o, ok := from.(*object); ok {
		held += int64(len(o.tail))
		b.list.addObject(o.object)
		b.far = true
	} else {
		b.list.add(e.path, "", e.size, e.version)
	}
	b.openBytes = max(b.openBytes, held)
	if b.list.keys != nil {
		b.list.keys.add(list.keys.at(at))
	}
	return nil
}

const (
	// leafBytes is the memory of a leaf in the catalog while footers are read, with its place in the index, and
	// nameBytes that of naming a leaf of the file: measured at 100,000 to 500,000 columns:
	// up to 83 bytes without the leaf, and up to 79.
	leafBytes = int64(unsafe.Sizeof(format.Leaf{})) + 90
	nameBytes = 80
)

// bytesWith returns the memory of the leaves while a file of so many is added.
func (b *catalogBuilder) bytesWith(leaves int) int64 {
	return leafBytes*int64(max(len(b.leaves), leaves)) + nameBytes*int64(leaves)
}

// weigh is what reading the row groups of a file costs, in bytes: nothing where the condition
// is true of no row.
func weigh(opened format.File, outcomes []where.Outcome) []int64 {
	bytes := make([]int64, len(opened.GroupRows()))
	for g, rows := range opened.GroupRows() {
		switch w, ok := opened.(format.Weighed); {
		case outcomes != nil && outcomes[g].Never():
		case ok:
			bytes[g] = w.GroupBytes(g)
		default:
			bytes[g] = rows
		}
	}
	return bytes
}

// path is how file i is named in errors and results: its path, or its URL without what may
// be secret.
func (c *catalog) path(i int) string { return place.Name(c.list.at(i).path) }

func (b *catalogBuilder) finish() error {
	for i, key := range b.keys {
		typ := b.list.keyType(key)
		if typ == "" && b.textKeys[key] {
			typ = "string"
		}
		b.parts = append(b.parts, newPartition(key, b.texts[i], typ))
	}
	b.addAbsent()
	b.padOrders()
	b.orderByTable()
	if b.filter != nil && !b.union && b.rows == 0 { // else the first file with rows has told
		return b.filter.bind(b.path(b.first), b.leaves)
	}
	return nil
}

// reopen opens a file of the catalog for a pass and refuses it if it is not the
// one whose footer was read.
func (c *catalog) reopen(ctx context.Context, i int, memory int64, meter *stream.Meter) (format.File, Input, error) {
	opened, in, err := c.open(ctx, c.list.at(i), memory, meter)
	if err != nil {
		return nil, nil, err
	}
	f := &c.files[i]
	same := in.Size() == f.size && opened.FooterDigest() == f.digest
	if same {
		same, err = c.fits(opened, in, f)
	}
	if err != nil || !same {
		opened.Close()
		switch {
		case err != nil:
			return nil, nil, err
		case c.frozen != nil:
			return nil, nil, changedSincePlan(c.path(i), c.list.plan)
		}
		e := stream.Dataf(c.path(i), "the file changed since the run began")
		e.Remedy = stream.Textf("run again when nobody writes to it")
		return nil, nil, e
	}
	return opened, in, nil
}

// cuts lists the distinct starts of the row groups, and the end: of a shard of a plan, its own.
func (c *catalog) cuts() []int64 {
	within := stream.Range{To: c.rows}
	if c.frozen != nil && !c.frozen.rows.All() {
		within = c.frozen.rows
	}
	cuts := []int64{within.From}
	for i := range c.files {
		at := c.files[i].start
		for _, rows := range c.files[i].groups {
			if at += rows; rows > 0 && at > within.From && at <= within.To {
				cuts = append(cuts, at)
			}
		}
	}
	return cuts
}

// bytes estimates what the catalog holds.
func (c *catalog) bytes() int64 {
	n := int64(len(c.leaves))*200 + c.list.bytes()
	if c.tails != nil {
		n += c.tails.bytes()
	}
	orders := map[*int32]bool{}
	for i := range c.files {
		f := &c.files[i]
		n += 150 + 8*int64(len(f.groups)+len(f.bytes)+len(c.parts)) + int64(len(f.outcomes))
		if f.order != nil && !orders[&f.order[0]] {
			orders[&f.order[0]] = true
			n += 4 * int64(len(f.order))
		}
	}
	return n
}
