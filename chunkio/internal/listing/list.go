package listing

import (
	"encoding/binary"
	"encoding/hex"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/stream"
)

// List holds entries in byte order of their paths, without a string for each: a record stores only the part of a
// path that differs from the previous path, and all URLs of one argument share their query. The key of an object in a
// data lake, with its size and ETag, needs about 40 bytes (TestFileListIsSmall).
type List struct {
	Count    int
	records  []byte
	blocks   []int    // offset in records of every sixteenth record, which contains its whole path
	queries  []string // queries of the URLs, such as "?endpoint=…"
	lastName string   // path of the last record, without its query

	Table    *stream.Table   // the table with these files; nil for bare files
	Schema   *columns.Schema // schema of the table; nil for bare files
	Losses   int             // with settings.Options.TableSince: the number of files with rows that the table has lost
	Plan     string          // display name of the plan file that names the files; empty if there is no plan
	finders  []finder        // the folders and globs with which the files were found
	Lists    []string        // the @lists that name files, without the @
	Guesses  map[string]bool // files in folders; they count as data only by the shape of their lines
	KeyTexts *KeyTexts       // partition values from a table's log or a plan; nil if they come from the paths
	Warnings []stream.Text
}

// listBlock is the number of records in a block of a List; the first of them contains its whole path.
const listBlock = 16

// AppendEntry appends an entry. name is its path without the query; deleted and constants are as in storage.Entry.
// Entries must be added in byte order of their names.
func (l *List) AppendEntry(name, query string, size int64, version string, deleted, constants []byte) {
	q := len(l.queries) - 1
	if q < 0 || l.queries[q] != query {
		l.queries = append(l.queries, query)
		q++
	}
	shared := 0
	if l.Count%listBlock == 0 {
		l.blocks = append(l.blocks, len(l.records))
	} else {
		for shared < min(len(name), len(l.lastName)) && name[shared] == l.lastName[shared] {
			shared++
		}
	}
	b := binary.AppendUvarint(l.records, uint64(shared))
	b = appendWithLength(b, name[shared:])
	b = binary.AppendUvarint(b, uint64(q))
	b = binary.AppendUvarint(b, uint64(size+1))
	l.records = appendWithLength(appendWithLength(appendVersion(b, version), string(deleted)), string(constants))
	l.lastName, l.Count = name, l.Count+1
}

// NewLocalList makes a list of local paths, which must be sorted.
func NewLocalList(paths []string) *List {
	l := new(List)
	for _, p := range paths {
		l.AppendEntry(p, "", -1, "", nil, nil)
	}
	return l
}

// EmptyCopy returns a list with the same properties and no files.
func (l *List) EmptyCopy() *List {
	e := &List{Table: l.Table, Schema: l.Schema, Losses: l.Losses, Plan: l.Plan, finders: l.finders, Lists: l.Lists, Guesses: l.Guesses, Warnings: l.Warnings}
	if l.KeyTexts != nil {
		e.KeyTexts = NewKeyTexts(l.KeyTexts.Keys)
	}
	return e
}

// IsStdin reports whether the list is standard input.
func (l *List) IsStdin() bool { return l.Count == 1 && l.lastName == StdinName }

func appendWithLength(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendVersion packs an ETag into 17 bytes if it is an MD5 sum like S3's, "9a0364b9e99bb480dd25e1f0284c8555", perhaps
// followed by the number of parts.
func appendVersion(b []byte, version string) []byte {
	const digits = 32
	inner := strings.TrimSuffix(strings.TrimPrefix(version, `"`), `"`)
	if len(inner) >= digits && len(version) == len(inner)+2 && inner[:digits] == strings.ToLower(inner[:digits]) {
		parts, err := strconv.ParseUint(strings.TrimPrefix(inner[digits:], "-"), 10, 32)
		sum, err2 := hex.DecodeString(inner[:digits])
		plain := len(inner) == digits
		if err2 == nil && (plain || err == nil && inner[digits:] == "-"+strconv.FormatUint(parts, 10)) {
			code := uint64(1)
			if !plain {
				code = 2 + parts
			}
			return append(binary.AppendUvarint(b, code), sum...)
		}
	}
	return appendWithLength(append(b, 0), version)
}

type listReader struct {
	*List
	offset int
	name   []byte
}

func (r *listReader) readNumber() int {
	v, n := binary.Uvarint(r.records[r.offset:])
	r.offset += n
	return int(v)
}

func (r *listReader) readBytes(n int) []byte {
	b := r.records[r.offset : r.offset+n]
	r.offset += n
	return b
}

// listRecord is an entry, except its path, as a List stores it.
type listRecord struct {
	query     int // index into List.queries
	size      int64
	version   string
	deleted   []byte // nil if it is empty, like constants
	constants []byte
}

// readRecord reads the record at r.offset and stores its path in r.name.
func (r *listReader) readRecord() (e listRecord) {
	r.name = r.name[:r.readNumber()]
	r.name = append(r.name, r.readBytes(r.readNumber())...)
	e.query, e.size = r.readNumber(), int64(r.readNumber())-1
	switch code := r.readNumber(); code {
	case 0:
		e.version = string(r.readBytes(r.readNumber()))
	case 1:
		e.version = `"` + hex.EncodeToString(r.readBytes(16)) + `"`
	default:
		e.version = `"` + hex.EncodeToString(r.readBytes(16)) + "-" + strconv.Itoa(code-2) + `"`
	}
	for _, to := range []*[]byte{&e.deleted, &e.constants} {
		if n := r.readNumber(); n > 0 {
			*to = r.readBytes(n)
		}
	}
	return e
}

// EntryAt returns entry i. It reads up to 16 records for this.
func (l *List) EntryAt(i int) storage.Entry {
	r := listReader{List: l, offset: l.blocks[i/listBlock]}
	for range i % listBlock {
		r.readRecord()
	}
	return r.readEntry()
}

func (r *listReader) readEntry() storage.Entry {
	record := r.readRecord()
	return storage.Entry{Path: string(r.name) + r.queries[record.query], Size: record.size, Version: record.version, Deleted: record.deleted, Constants: record.constants, Columns: r.Schema, InLog: r.Table != nil && r.Plan == "", Plan: r.Plan}
}

// Entries yields the entries in order.
func (l *List) Entries() iter.Seq2[int, storage.Entry] {
	return func(yield func(int, storage.Entry) bool) {
		r := listReader{List: l}
		for i := range l.Count {
			if !yield(i, r.readEntry()) {
				return
			}
		}
	}
}

// Paths returns the paths of all entries.
func (l *List) Paths() []string {
	paths := make([]string, 0, l.Count)
	for _, e := range l.Entries() {
		paths = append(paths, e.Path)
	}
	return paths
}

// SourcePaths returns the paths of all entries and of the lists that name them.
func (l *List) SourcePaths() []string { return append(l.Paths(), l.Lists...) }

// MemoryBytes returns the memory of the list.
func (l *List) MemoryBytes() int64 {
	n := int64(cap(l.records) + 8*cap(l.blocks))
	if l.KeyTexts != nil {
		n += 16 * int64(l.Count*len(l.KeyTexts.Keys))
	}
	return n
}

// mergeLists merges lists into one, in byte order. If a file is named twice, it returns the path of that file in twice.
func mergeLists(lists []*List) (merged *List, twice string) {
	switch len(lists) {
	case 0:
		return new(List), ""
	case 1:
		return lists[0], ""
	}
	half := len(lists) / 2
	a, twice := mergeLists(lists[:half])
	if twice != "" {
		return nil, twice
	}
	b, twice := mergeLists(lists[half:])
	if twice != "" {
		return nil, twice
	}
	merged = &List{Warnings: slices.Concat(a.Warnings, b.Warnings)}
	from := [2]listReader{{List: a}, {List: b}}
	left := [2]int{a.Count, b.Count}
	var next [2]listRecord
	for k := range from {
		if left[k] > 0 {
			next[k] = from[k].readRecord()
		}
	}
	for left[0]+left[1] > 0 {
		k := 0
		if left[0] == 0 || left[1] > 0 && string(from[1].name) < string(from[0].name) {
			k = 1
		}
		r := &from[k]
		name := string(r.name)
		if merged.Count > 0 && merged.lastName == name {
			return nil, name
		}
		merged.AppendEntry(name, r.queries[next[k].query], next[k].size, next[k].version, next[k].deleted, next[k].constants)
		if left[k]--; left[k] > 0 {
			next[k] = r.readRecord()
		}
	}
	return merged, ""
}

// FilterEntries returns a list of the wanted entries.
func (l *List) FilterEntries(wanted func(i int, path string) bool) *List {
	filtered := l.EmptyCopy()
	r := listReader{List: l}
	for i := range l.Count {
		e := r.readRecord()
		if !wanted(i, string(r.name)+l.queries[e.query]) {
			continue
		}
		filtered.AppendEntry(string(r.name), l.queries[e.query], e.size, e.version, e.deleted, e.constants)
		if l.KeyTexts != nil {
			filtered.KeyTexts.AddFileValues(l.KeyTexts.FileValues(i))
		}
	}
	return filtered
}
