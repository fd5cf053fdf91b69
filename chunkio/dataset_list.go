package chunkio

import (
	"encoding/binary"
	"encoding/hex"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/delta"
	"github.com/ufs-stream/ufs-stream/stream"
)

// fileEntry is a file to read: its path or URL and, for an object in a store, the version in the listing.
type fileEntry struct {
	path    string // local, or a URL
	size    int64  // bytes; -1 if no listing contains the file
	version string // ETag or generation
	inLog   bool   // a table's log reports the size, and that the file exists
	plan    string // display name of the plan file with this entry; empty if there is no plan
}

// fileList holds entries in byte order of their paths, without a string for each: a record stores only the part of a
// path that differs from the previous path, and all URLs of one argument share their query. The key of an object in a
// data lake, with its size and ETag, needs about 40 bytes (TestFileListIsSmall).
type fileList struct {
	count    int
	records  []byte
	blocks   []int    // offset in records of every sixteenth record, which contains its whole path
	queries  []string // queries of the URLs, such as "?endpoint=…"
	lastName string   // path of the last record, without its query

	table    *stream.Table   // the table with these files; nil for bare files
	schema   *delta.Schema   // schema of the table; nil for bare files, and for the files of a plan
	plan     string          // display name of the plan file that names the files; empty if there is no plan
	finders  []finder        // the folders and globs with which the files were found
	lists    []string        // the @lists that name files, without the @
	guesses  map[string]bool // files in folders; they count as data only by the shape of their lines
	keyTexts *keyTexts       // partition values from a table's log or a plan; nil if they come from the paths
	warnings []stream.Text
}

const listBlock = 16

// appendEntry appends an entry. name is its path without the query. Entries must be added in byte order of their names.
func (l *fileList) appendEntry(name, query string, size int64, version string) {
	q := len(l.queries) - 1
	if q < 0 || l.queries[q] != query {
		l.queries = append(l.queries, query)
		q++
	}
	shared := 0
	if l.count%listBlock == 0 {
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
	l.records = appendVersion(b, version)
	l.lastName, l.count = name, l.count+1
}

// newLocalList makes a list of local paths, which must be sorted.
func newLocalList(paths []string) *fileList {
	l := new(fileList)
	for _, p := range paths {
		l.appendEntry(p, "", -1, "")
	}
	return l
}

func (l *fileList) emptyCopy() *fileList {
	e := &fileList{table: l.table, schema: l.schema, plan: l.plan, finders: l.finders, lists: l.lists, guesses: l.guesses, warnings: l.warnings}
	if l.keyTexts != nil {
		e.keyTexts = newKeyTexts(l.keyTexts.keys)
	}
	return e
}

func (l *fileList) isStdin() bool { return l.count == 1 && l.lastName == stdinName }

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

// listReader reads the records of a list.
type listReader struct {
	*fileList
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

// readRecord reads the record at r.offset and stores its path in r.name. query is an index into r.queries.
func (r *listReader) readRecord() (query int, size int64, version string) {
	r.name = r.name[:r.readNumber()]
	r.name = append(r.name, r.readBytes(r.readNumber())...)
	query, size = r.readNumber(), int64(r.readNumber())-1
	switch code := r.readNumber(); code {
	case 0:
		version = string(r.readBytes(r.readNumber()))
	case 1:
		version = `"` + hex.EncodeToString(r.readBytes(16)) + `"`
	default:
		version = `"` + hex.EncodeToString(r.readBytes(16)) + "-" + strconv.Itoa(code-2) + `"`
	}
	return query, size, version
}

// entryAt returns entry i. It reads up to 16 records for this.
func (l *fileList) entryAt(i int) fileEntry {
	r := listReader{fileList: l, offset: l.blocks[i/listBlock]}
	for range i % listBlock {
		r.readRecord()
	}
	return r.readEntry()
}

func (r *listReader) readEntry() fileEntry {
	q, size, version := r.readRecord()
	return fileEntry{string(r.name) + r.queries[q], size, version, r.table != nil && r.plan == "", r.plan}
}

func (l *fileList) entries() iter.Seq2[int, fileEntry] {
	return func(yield func(int, fileEntry) bool) {
		r := listReader{fileList: l}
		for i := range l.count {
			if !yield(i, r.readEntry()) {
				return
			}
		}
	}
}

func (l *fileList) paths() []string {
	paths := make([]string, 0, l.count)
	for _, e := range l.entries() {
		paths = append(paths, e.path)
	}
	return paths
}

func (l *fileList) sourcePaths() []string { return append(l.paths(), l.lists...) }

func (l *fileList) memoryBytes() int64 {
	n := int64(cap(l.records) + 8*cap(l.blocks))
	if l.keyTexts != nil {
		n += 16 * int64(l.count*len(l.keyTexts.keys))
	}
	return n
}

// mergeLists merges lists into one, in byte order. If a file is named twice, it returns the path of that file in twice.
func mergeLists(lists []*fileList) (merged *fileList, twice string) {
	switch len(lists) {
	case 0:
		return new(fileList), ""
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
	merged = &fileList{warnings: slices.Concat(a.warnings, b.warnings)}
	from := [2]listReader{{fileList: a}, {fileList: b}}
	left := [2]int{a.count, b.count}
	var query [2]int
	var size [2]int64
	var version [2]string
	for k := range from {
		if left[k] > 0 {
			query[k], size[k], version[k] = from[k].readRecord()
		}
	}
	for left[0]+left[1] > 0 {
		k := 0
		if left[0] == 0 || left[1] > 0 && string(from[1].name) < string(from[0].name) {
			k = 1
		}
		r := &from[k]
		name := string(r.name)
		if merged.count > 0 && merged.lastName == name {
			return nil, name
		}
		merged.appendEntry(name, r.queries[query[k]], size[k], version[k])
		if left[k]--; left[k] > 0 {
			query[k], size[k], version[k] = r.readRecord()
		}
	}
	return merged, ""
}

func (l *fileList) filterEntries(wanted func(i int, path string) bool) *fileList {
	filtered := l.emptyCopy()
	r := listReader{fileList: l}
	for i := range l.count {
		query, size, version := r.readRecord()
		if !wanted(i, string(r.name)+l.queries[query]) {
			continue
		}
		filtered.appendEntry(string(r.name), l.queries[query], size, version)
		if l.keyTexts != nil {
			filtered.keyTexts.addFileValues(l.keyTexts.fileValues(i))
		}
	}
	return filtered
}
