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

// catalog holds the data from the footers of all files. openCatalog makes it once, and every Dataset over the same
// files shares it without changing it. It holds the leaves once, and for each file about 150 bytes and 8 bytes for each
// row group. It stores the order of a file's columns only if that differs from the order in the first file; files with
// equal orders share one copy. For objects in a store, the catalog keeps some footers, and the version that was opened.
type catalog struct {
	leaves        []format.Leaf  // in the first file's order, with the metadata of all files merged
	firstRefusal  map[int]string // by leaf that cannot be decoded: the first file with the problem
	parts         []partition    // Hive partition columns
	files         []file
	list          *fileList // the paths of the files
	rows          int64     // in all files
	maxGroup      int64     // rows of the tallest row group
	openBytes     int64     // memory of one open file in bytes: the largest of all files
	warnings      []stream.Text
	open          opener
	tails         *tailCache    // nil if no file can be in a store
	hasRemote     bool          // some file is in a store
	filter        *filter       // Options.Where; nil if there is no condition
	texts         *textTables   // converted rows of text, arrays and Avro; nil if there can be none
	plan          *planInfo     // from a plan file; nil if there is no plan
	spreads       []numberRange // ranges of the numbers, by leaf; nil if not recorded
	hasMixedTypes bool          // a leaf has different types in different files, or is missing in some

	keyCache *keyCache // keys of the maps that were read as sparse rows, if they are texts; nil for a stream
}

// file is the catalog's record of one input.
type file struct {
	size        int64
	start       int64   // global position of its first row
	groups      []int64 // rows of each row group
	order       []int32 // dataset leaf → the file's leaf, -1 if absent; nil if each has the same index
	parquet     bool    // the file is Parquet, or was converted to it
	digest      uint64  // digest of the footer: the file is refused if it changes before it is read
	fingerprint uint64  // see computeFingerprint
	bytes       []int64 // bytes to read for each row group, if a plan will be written; else nil

	rowsByContent bool            // recognized as a file of rows by its contents, not its name: opening reads it to its end
	outcomes      []where.Outcome // result of the condition for each row group; nil without a condition
}

func (f *file) countRows() (n int64) {
	for _, g := range f.groups {
		n += g
	}
	return n
}

// leafIndex returns the index in the file of a leaf of the dataset. It is negative if the file lacks the leaf, which is
// then null in every row.
func (f *file) leafIndex(leaf int) int {
	if f.order == nil {
		return leaf
	}
	return int(f.order[leaf])
}

// openCatalog reads the footer of every file, one file at a time. If opt.skipBad is set, unusable files are left out
// with a warning; if no file is usable, the error is the first file's. An unavailable store is always an error.
func openCatalog(ctx context.Context, list *fileList, f *filter, open opener, opt catalogOptions) (*catalog, error) {
	b := catalogBuilder{
		recordsBytes: opt.recordsBytes,
		union:        opt.union,
		isUnused:     opt.isUnused,
		spreads:      opt.recordsSpreads,
		catalog:      &catalog{keyCache: new(keyCache), firstRefusal: map[int]string{}, open: open, filter: f, list: list.emptyCopy(), warnings: list.warnings},
		orders:       map[string][]int32{},

		textKeys: map[string]bool{},
	}
	var first error
	for i, e := range list.entries() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := b.addFile(ctx, list, i, e, opt.memory)
		if err == nil {
			continue
		}
		var tooLittle *stream.MemoryError
		var usage *stream.UsageError
		switch {
		case !opt.skipBad || errors.As(err, &tooLittle) || errors.Is(err, store.ErrUnavailable):
			return nil, err // the file must not be left out: SkipBad is not set, or the file may be good
		case first == nil:
			first = err
		}
		if errors.As(err, &usage) { // usage errors name no file
			b.warnings = append(b.warnings, stream.Textf("skipped: %s: %v", place.DisplayName(e.path), err))
		} else {
			b.warnings = append(b.warnings, stream.Textf("skipped: %v", err))
		}
	}
	if len(b.files) == 0 {
		return nil, cmp.Or(first, b.guessFault)
	}
	return b.catalog, b.finishCatalog()
}

type catalogOptions struct {
	memory         int64                    // limit for one open footer
	skipBad        bool                     // leave out files that cannot be used
	recordsBytes   bool                     // record the number of bytes to read for each row group
	union          bool                     // a column that a file lacks is null there
	recordsSpreads bool                     // record the ranges of the numbers of leaves
	isUnused       func(column string) bool // reports whether a column is not used; nil if all may be used
}

// catalogBuilder contains the state that is only needed while footers are read.
type catalogBuilder struct {
	*catalog
	recordsBytes bool
	union        bool
	isUnused     func(column string) bool // see catalogOptions
	spreads      bool
	hasSureFile  bool               // at least one file with rows is certainly data, not only by a guess
	guessFault   error              // first error of a file that is data only by a guess; such files are passed over
	firstFile    int                // index of the file that defines the columns: the first file with rows
	leafCounts   []int              // by file: leaves of the dataset once it was added; it lacks later leaves
	index        map[leafName]int   // dataset leaf by name
	orders       map[string][]int32 // column orders so far, so that files share them
	keys         []string           // partition keys
	partValues   [][]string         // partition values by key, then by file

	textKeys map[string]bool // keys that are also a text column of the files
}

// addFile reads the footer of the file e, whose index in list is the parameter at. After an error the catalog is
// unchanged.
func (b *catalogBuilder) addFile(ctx context.Context, list *fileList, at int, e fileEntry, memory int64) error {
	opened, from, err := b.open(ctx, e, memory, nil)
	if err != nil {
		return err
	}
	defer opened.Close()
	path := from.Name()
	leaves := opened.Leaves()
	if need := opened.HeldBytes() + b.memoryWithLeaves(len(leaves)); need > memory {
		return &stream.MemoryError{What: "naming the columns of " + path, Need: need, Limit: memory, AtLeast: true}
	}
	leaves, names := nameLeaves(leaves)
	if leaves, err = list.applySchema(path, leaves, names); err != nil {
		return err
	}
	before := len(b.leaves)
	f := file{size: from.Size(), start: b.rows, groups: opened.GroupRows(), digest: opened.FooterDigest(), rowsByContent: isRowFile(opened) && !isReadAtOpening(path)}
	_, f.parquet = opened.(*parquet.File)
	if f.fingerprint, err = computeFingerprint(from, f.digest); err != nil {
		return err
	}
	keys, parts, err := list.partitionValues(at, e.path)
	if err != nil {
		return err
	}
	if err := b.dropKeyColumns(ctx, path, opened, names, keys, parts, memory); err != nil {
		return err
	}
	guess := list.guesses[e.path]
	if b.dropByGuess(path, guess, &f, names) {
		return nil
	}
	first, empty := len(b.files) == 0 || b.rows == 0 && f.countRows() > 0, f.countRows() == 0
	if first {
		if err = b.defineColumns(path, &f, leaves, names, keys); err != nil && guess {
			b.skipGuessedFile(path, err)
			return nil
		}
	} else if parts, err = alignKeyValues(path, b.fileName(b.firstFile), b.keys, keys, parts); err != nil && empty {
		b.warnings = append(b.warnings, stream.Textf("passed over a file without rows: %v", err))
		return nil
	} else if err == nil {
		err = b.matchFile(path, &f, leaves, names)
	}
	if err != nil {
		return err
	}
	if b.filter != nil && !b.union {
		if f.outcomes, err = b.filter.groupOutcomes(list, at, e, opened, f.leafIndex); err != nil {
			return err
		}
	}
	if b.recordsBytes {
		f.bytes = groupBytesToRead(opened, f.outcomes)
	}
	if !first && !empty {
		b.mergeLeaves(path, &f, leaves, before)
	}
	b.hasSureFile = b.hasSureFile || !guess && !empty
	if b.spreads {
		b.addNumberRanges(opened, &f)
	}
	for i, text := range parts {
		b.partValues[i] = append(b.partValues[i], text)
	}
	for _, rows := range f.groups {
		b.maxGroup = max(b.maxGroup, rows)
	}
	b.rows += f.countRows()
	b.leafCounts = append(b.leafCounts, len(b.leaves))
	openBytes := opened.HeldBytes()
	b.files = append(b.files, f)
	if o, ok := from.(*object); ok {
		openBytes += int64(len(o.tail))
		b.list.addObject(o.object)
		b.hasRemote = true
	} else {
		b.list.appendEntry(e.path, "", e.size, e.version)
	}
	b.openBytes = max(b.openBytes, openBytes)
	if b.list.keyTexts != nil {
		b.list.keyTexts.addFileValues(list.keyTexts.fileValues(at))
	}
	return nil
}

const (
	// leafBytes is the memory of a leaf in the catalog while footers are read, including its index entry: with 100,000
	// to 500,000 columns, up to 83 bytes were measured in addition to the leaf itself. nameBytes is the memory for the
	// name of each leaf of the file being added: up to 79 bytes were measured.
	leafBytes = int64(unsafe.Sizeof(format.Leaf{})) + 90
	nameBytes = 80
)

func (b *catalogBuilder) memoryWithLeaves(leaves int) int64 {
	return leafBytes*int64(max(len(b.leaves), leaves)) + nameBytes*int64(leaves)
}

// groupBytesToRead returns the bytes to read for each row group: 0 if the condition is not true for any of its rows.
func groupBytesToRead(opened format.File, outcomes []where.Outcome) []int64 {
	bytes := make([]int64, len(opened.GroupRows()))
	for g, rows := range opened.GroupRows() {
		switch w, ok := opened.(format.Weighed); {
		case outcomes != nil && outcomes[g].MatchesNone():
		case ok:
			bytes[g] = w.GroupBytes(g)
		default:
			bytes[g] = rows
		}
	}
	return bytes
}

func (c *catalog) fileName(i int) string { return place.DisplayName(c.list.entryAt(i).path) }

func (b *catalogBuilder) finishCatalog() error {
	for i, key := range b.keys {
		typ := b.list.keyType(key)
		if typ == "" && b.textKeys[key] {
			typ = "string"
		}
		b.parts = append(b.parts, newPartition(key, b.partValues[i], typ))
	}
	b.addAbsentColumns()
	b.padColumnOrders()
	b.orderByTable()
	if b.filter != nil && !b.union && b.rows == 0 { // otherwise the filter is already bound to the first file with rows
		return b.filter.bindColumns(b.fileName(b.firstFile), b.leaves)
	}
	return nil
}

// reopenFile opens a file of the catalog for a pass and refuses it if it changed since its footer was read.
func (c *catalog) reopenFile(ctx context.Context, i int, memory int64, meter *stream.Meter) (format.File, Input, error) {
	opened, in, err := c.open(ctx, c.list.entryAt(i), memory, meter)
	if err != nil {
		return nil, nil, err
	}
	f := &c.files[i]
	same := in.Size() == f.size && opened.FooterDigest() == f.digest
	if same {
		same, err = c.matchesPlan(opened, in, f)
	}
	if err != nil || !same {
		opened.Close()
		switch {
		case err != nil:
			return nil, nil, err
		case c.plan != nil:
			return nil, nil, errChangedSincePlan(c.fileName(i), c.list.plan)
		}
		e := stream.Dataf(c.fileName(i), "the file changed since the run began")
		e.Remedy = stream.Textf("run again when nobody writes to it")
		return nil, nil, e
	}
	return opened, in, nil
}

func (c *catalog) groupCuts() []int64 {
	within := stream.Range{To: c.rows}
	if c.plan != nil && !c.plan.rows.All() {
		within = c.plan.rows
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

func (c *catalog) memoryBytes() int64 {
	n := int64(len(c.leaves))*200 + c.list.memoryBytes()
	if c.tails != nil {
		n += c.tails.memoryBytes()
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
