package catalog

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"unsafe"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/where"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Catalog holds the data from the footers of all files. OpenCatalog makes it once, and every Dataset over the same
// files shares it without changing it. It holds the leaves once, and for each file about 150 bytes and 8 bytes for each
// row group. It stores the order of a file's columns only if that differs from the order in the first file; files with
// equal orders share one copy. For objects in a store, the catalog keeps some footers, and the version that was opened.
type Catalog struct {
	Leaves        []format.Leaf  // in the first file's order, with the metadata of all files merged
	FirstRefusal  map[int]string // by leaf that cannot be decoded: the first file with the problem
	Parts         []Partition    // Hive partition columns
	Files         []File
	List          *listing.List // the paths of the files
	Rows          int64         // in all files
	MaxGroup      int64         // rows of the tallest row group
	OpenBytes     int64         // memory of one open file in bytes: the largest of all files
	Warnings      []stream.Text
	Open          opening.Opener
	Tails         *storage.TailCache  // nil if no file can be in a store
	HasRemote     bool                // some file is in a store
	Filter        *Filter             // Options.Where; nil if there is no condition
	Texts         *opening.TextTables // converted rows of text, arrays and Avro; nil if there can be none
	Plan          *PlanInfo           // from a plan file; nil if there is no plan
	Spreads       []numberRange       // ranges of the numbers, by leaf; nil if not recorded
	HasMixedTypes bool                // a leaf has different types in different files, or is missing in some

	KeyCache *KeyCache // keys of the maps that were read as sparse rows, if they are texts; nil for a stream
}

// File is the catalog's record of one input.
type File struct {
	Size        int64
	Start       int64   // global position of its first row
	Groups      []int64 // rows of each row group
	Order       []int32 // dataset leaf → the file's leaf, -1 if absent; nil if each has the same index
	Parquet     bool    // the file is Parquet, or was converted to it
	Digest      uint64  // digest of the footer: the file is refused if it changes before it is read
	Fingerprint uint64  // see ComputeFingerprint
	Bytes       []int64 // bytes to read for each row group, if a plan will be written; else nil

	RowsByContent bool            // recognized as a file of rows by its contents, not its name: opening reads it to its end
	Outcomes      []where.Outcome // result of the condition for each row group; nil without a condition
}

// CountRows returns the number of rows of the file.
func (f *File) CountRows() (n int64) {
	for _, g := range f.Groups {
		n += g
	}
	return n
}

// LeafIndex returns the index that a leaf of the dataset has in the file. It is negative if the file lacks the leaf.
func (f *File) LeafIndex(leaf int) int {
	if f.Order == nil {
		return leaf
	}
	return int(f.Order[leaf])
}

// OpenCatalog reads the footer of every file, one file at a time. If opt.SkipBad is set, unusable files are left out
// with a warning; if no file is usable, the error is the first file's. An unavailable store is always an error.
func OpenCatalog(ctx context.Context, list *listing.List, f *Filter, open opening.Opener, opt Options) (*Catalog, error) {
	b := catalogBuilder{
		recordsBytes:   opt.RecordsBytes,
		union:          opt.Union,
		isUnused:       opt.IsUnused,
		recordsSpreads: opt.RecordsSpreads,
		Catalog:        &Catalog{KeyCache: new(KeyCache), FirstRefusal: map[int]string{}, Open: open, Filter: f, List: list.EmptyCopy(), Warnings: list.Warnings},
		orders:         map[string][]int32{},

		textKeys: map[string]bool{},
	}
	var first error
	for i, e := range list.Entries() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := b.addFile(ctx, list, i, e, opt.Memory)
		if err == nil {
			continue
		}
		var tooLittle *stream.MemoryError
		switch {
		case !opt.SkipBad || errors.As(err, &tooLittle) || errors.Is(err, store.ErrUnavailable):
			return nil, err // the file must not be left out: SkipBad is not set, or the file may be good
		case first == nil:
			first = err
		}
		if _, ok := errors.AsType[*stream.UsageError](err); ok { // usage errors name no file
			b.Warnings = append(b.Warnings, stream.Textf("skipped: %s: %v", place.DisplayName(e.Path), err))
		} else {
			b.Warnings = append(b.Warnings, stream.Textf("skipped: %v", err))
		}
	}
	if len(b.Files) == 0 {
		return nil, cmp.Or(first, b.guessFault)
	}
	return b.Catalog, b.finishAfterLastFile()
}

// Options are the options of reading all footers.
type Options struct {
	Memory         int64                    // limit for one open footer
	SkipBad        bool                     // leave out files that cannot be used
	RecordsBytes   bool                     // record the number of bytes to read for each row group
	Union          bool                     // a column that a file lacks is null there
	RecordsSpreads bool                     // record the ranges of the numbers of leaves
	IsUnused       func(column string) bool // reports whether a column is not used; nil if all may be used
}

// catalogBuilder contains the state that is only needed while footers are read.
type catalogBuilder struct {
	*Catalog
	recordsBytes   bool
	union          bool
	isUnused       func(column string) bool // see Options
	recordsSpreads bool
	hasSureFile    bool                    // at least one file with rows is certainly data, not only by a guess
	guessFault     error                   // first error of a file that is data only by a guess; such files are passed over
	firstFile      int                     // index of the file that defines the columns: the first file with rows
	leafCounts     []int                   // by file: leaves of the dataset once it was added; it lacks later leaves
	index          map[naming.LeafName]int // dataset leaf by name
	orders         map[string][]int32      // column orders so far, so that files share them
	keys           []string                // partition keys
	partValues     [][]string              // partition values by key, then by file

	textKeys map[string]bool // keys that are also a text column of the files
}

// addFile reads the footer of the file e, entry `at` of the list. After an error the catalog is unchanged.
func (b *catalogBuilder) addFile(ctx context.Context, list *listing.List, at int, e storage.Entry, memory int64) error {
	opened, from, err := b.Open(ctx, e, memory, nil)
	if err != nil {
		return err
	}
	defer opened.Close()
	path := from.Name()
	leaves := opened.Leaves()
	if need := opened.HeldBytes() + b.catalogBytesWithLeaves(len(leaves)); need > memory {
		return &stream.MemoryError{What: "naming the columns of " + path, Need: need, Limit: memory, AtLeast: true}
	}
	leaves, names := naming.NameLeaves(leaves)
	if leaves, err = applySchema(list, path, leaves, names); err != nil {
		return err
	}
	before := len(b.Leaves)
	f := File{Size: from.Size(), Start: b.Rows, Groups: opened.GroupRows(), Digest: opened.FooterDigest(), RowsByContent: opening.IsText(opened) && !opening.IsReadAtOpening(path)}
	f.Parquet = opening.IsParquet(opened)
	if f.Fingerprint, err = storage.ComputeFingerprint(from, f.Digest); err != nil {
		return err
	}
	keys, parts, err := list.PartitionValues(at, e.Path)
	if err != nil {
		return err
	}
	if err := b.dropKeyColumns(ctx, path, opened, names, keys, parts, memory); err != nil {
		return err
	}
	guess := list.Guesses[e.Path]
	if b.dropByGuess(path, guess, &f, names) {
		return nil
	}
	first, empty := len(b.Files) == 0 || b.Rows == 0 && f.CountRows() > 0, f.CountRows() == 0
	if first {
		if err = b.defineColumns(path, &f, leaves, names, keys); err != nil && guess {
			b.skipGuessedFile(path, err)
			return nil
		}
	} else if parts, err = AlignKeyValues(path, b.FileName(b.firstFile), b.keys, keys, parts); err != nil && empty {
		b.Warnings = append(b.Warnings, stream.Textf("passed over a file without rows: %v", err))
		return nil
	} else if err == nil {
		err = b.matchFile(path, &f, leaves, names)
	}
	if err != nil {
		return err
	}
	if b.Filter != nil && !b.union {
		if f.Outcomes, err = b.Filter.groupOutcomes(list, at, e, opened, f.LeafIndex); err != nil {
			return err
		}
	}
	if b.recordsBytes {
		f.Bytes = groupBytesToRead(opened, f.Outcomes)
	}
	if !first && !empty {
		b.mergeMetadataOfKnownLeaves(path, &f, leaves, before)
	}
	b.hasSureFile = b.hasSureFile || !guess && !empty
	if b.recordsSpreads {
		b.addNumberRanges(opened, &f)
	}
	for i, text := range parts {
		b.partValues[i] = append(b.partValues[i], text)
	}
	for _, rows := range f.Groups {
		b.MaxGroup = max(b.MaxGroup, rows)
	}
	b.Rows += f.CountRows()
	b.leafCounts = append(b.leafCounts, len(b.Leaves))
	openBytes := opened.HeldBytes()
	b.Files = append(b.Files, f)
	if o, ok := from.(*storage.Object); ok {
		openBytes += int64(len(o.Tail))
		b.List.AddObject(o.Object, e.Deleted, e.Constants)
		b.HasRemote = true
	} else {
		b.List.AppendEntry(e.Path, "", e.Size, e.Version, e.Deleted, e.Constants)
	}
	b.OpenBytes = max(b.OpenBytes, openBytes)
	if b.List.KeyTexts != nil {
		b.List.KeyTexts.AddFileValues(list.KeyTexts.FileValues(at))
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

func (b *catalogBuilder) catalogBytesWithLeaves(leafCount int) int64 {
	return leafBytes*int64(max(len(b.Leaves), leafCount)) + nameBytes*int64(leafCount)
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

// FileName returns the path or URL of file i for messages.
func (c *Catalog) FileName(i int) string { return place.DisplayName(c.List.EntryAt(i).Path) }

func (b *catalogBuilder) finishAfterLastFile() error {
	for i, key := range b.keys {
		typ := b.List.KeyType(key)
		if typ == "" && b.textKeys[key] {
			typ = "string"
		}
		b.Parts = append(b.Parts, newPartition(key, b.partValues[i], typ))
	}
	b.addAbsentColumns()
	b.padOrdersForLaterLeaves()
	b.orderByTable()
	if b.Filter != nil && !b.union && b.Rows == 0 { // otherwise the filter is already bound to the first file with rows
		return b.Filter.BindColumns(b.FileName(b.firstFile), b.Leaves)
	}
	return nil
}

// ReopenFile opens a file of the catalog for a pass and refuses it if it changed since its footer was read.
func (c *Catalog) ReopenFile(ctx context.Context, i int, memory int64, meter *stream.Meter) (format.File, storage.Input, error) {
	opened, in, err := c.Open(ctx, c.List.EntryAt(i), memory, meter)
	if err != nil {
		return nil, nil, err
	}
	f := &c.Files[i]
	same := in.Size() == f.Size && opened.FooterDigest() == f.Digest
	if same {
		same, err = c.matchesPlan(opened, in, f)
	}
	if err != nil || !same {
		opened.Close()
		switch {
		case err != nil:
			return nil, nil, err
		case c.Plan != nil:
			return nil, nil, storage.ErrChangedSincePlan(c.FileName(i), c.List.Plan)
		}
		e := stream.Dataf(c.FileName(i), "the file changed since the run began")
		e.Remedy = stream.Textf("run again when nobody writes to it")
		return nil, nil, e
	}
	return opened, in, nil
}

// GroupCuts returns the global positions between row groups, and both ends of the range of rows that is read.
func (c *Catalog) GroupCuts() []int64 {
	within := stream.Range{To: c.Rows}
	if c.Plan != nil && !c.Plan.Rows.All() {
		within = c.Plan.Rows
	}
	cuts := []int64{within.From}
	for i := range c.Files {
		at := c.Files[i].Start
		for _, rows := range c.Files[i].Groups {
			if at += rows; rows > 0 && at > within.From && at <= within.To {
				cuts = append(cuts, at)
			}
		}
	}
	return cuts
}

// MemoryBytes returns the memory of the catalog.
func (c *Catalog) MemoryBytes() int64 {
	n := int64(len(c.Leaves))*200 + c.List.MemoryBytes()
	for i := range c.Leaves {
		n += format.KeyBytes(c.Leaves[i].Keys)
	}
	if c.Tails != nil {
		n += c.Tails.MemoryBytes()
	}
	orders := map[*int32]bool{}
	for i := range c.Files {
		f := &c.Files[i]
		n += 150 + 8*int64(len(f.Groups)+len(f.Bytes)+len(c.Parts)) + int64(len(f.Outcomes))
		if f.Order != nil && !orders[&f.Order[0]] {
			orders[&f.Order[0]] = true
			n += 4 * int64(len(f.Order))
		}
	}
	return n
}

// InputName returns the name of the first file, for errors that concern all files.
func (c *Catalog) InputName() string {
	if c.Plan != nil {
		return c.Plan.FirstFile
	}
	if len(c.Files) == 0 {
		return ipc.StreamName
	}
	return c.FileName(0)
}

// PartitionText returns the text of a partition key for file i.
func (c *Catalog) PartitionText(i, part int) (string, error) {
	keys, values, err := c.List.PartitionValues(i, c.List.EntryAt(i).Path)
	if err != nil {
		return "", err
	}
	at := slices.Index(keys, c.Parts[part].Key)
	if at < 0 {
		return "", stream.Dataf(c.FileName(i), "the path lacks the partition key %q", c.Parts[part].Key)
	}
	return values[at], nil
}
