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

// fileEntry is a file to read: where it is and, of an object in a store, which version of it
// the listing told.
type fileEntry struct {
	path    string // local, or a URL
	size    int64  // -1 where nothing was listed
	version string // ETag or generation
	logged  bool   // the log of a table told its size, and that it is there
	plan    string // the plan file that told so, as people may see it; empty without one
}

// fileList holds entries in byte order of their paths, without a string for each: a path
// is what it does not share with the one before, and all URLs of one argument share their
// query. A key of a lake, with its size and ETag, takes some 40 bytes (TestFileListIsSmall).
type fileList struct {
	count   int
	records []byte
	blocks  []int    // where every sixteenth record begins, which shares nothing
	queries []string // behind the paths: "?endpoint=…"
	last    string   // path of the last record, without its query

	table    *stream.Table   // that the files are of; nil for bare files
	schema   *delta.Schema   // of the table; nil for bare files, and for the files of a plan
	plan     string          // the plan file that names the files, as people may see it; empty without one
	finders  []finder        // the folders and globs that the files were found by
	lists    []string        // the @lists that named them, without the @
	guesses  map[string]bool // paths in folders that are data by the shape of their lines alone
	keys     *keyTexts       // partition values from a table's log or a plan; nil if paths have them
	warnings []stream.Text
}

const listBlock = 16

// add appends an entry whose path without the query, name, is not before the last one.
func (l *fileList) add(name, query string, size int64, version string) {
	q := len(l.queries) - 1
	if q < 0 || l.queries[q] != query {
		l.queries = append(l.queries, query)
		q++
	}
	shared := 0
	if l.count%listBlock == 0 {
		l.blocks = append(l.blocks, len(l.records))
	} else {
		for shared < min(len(name), len(l.last)) && name[shared] == l.last[shared] {
			shared++
		}
	}
	b := binary.AppendUvarint(l.records, uint64(shared))
	b = appendText(b, name[shared:])
	b = binary.AppendUvarint(b, uint64(q))
	b = binary.AppendUvarint(b, uint64(size+1))
	l.records = appendVersion(b, version)
	l.last, l.count = name, l.count+1
}

// listed is a list of local paths, which must be sorted.
func listed(paths []string) *fileList {
	l := new(fileList)
	for _, p := range paths {
		l.add(p, "", -1, "")
	}
	return l
}

// empty is a list of files like these without any.
func (l *fileList) empty() *fileList {
	e := &fileList{table: l.table, schema: l.schema, plan: l.plan, finders: l.finders, lists: l.lists, guesses: l.guesses, warnings: l.warnings}
	if l.keys != nil {
		e.keys = newKeyTexts(l.keys.keys)
	}
	return e
}

// isStdin reports whether the list is standard input.
func (l *fileList) isStdin() bool { return l.count == 1 && l.last == stdinName }

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendVersion packs an ETag that is an MD5 sum, as S3's are, "9a0364b9e99bb480dd25e1f0284c8555"
// or with the number of parts behind it, into 17 bytes.
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
	return appendText(append(b, 0), version)
}

// reader takes records off a list.
type listReader struct {
	*fileList
	at   int
	name []byte
}

func (r *listReader) number() int {
	v, n := binary.Uvarint(r.records[r.at:])
	r.at += n
	return int(v)
}

func (r *listReader) bytes(n int) []byte {
	b := r.records[r.at : r.at+n]
	r.at += n
	return b
}

// next reads the record at r.at; query is the number of its query.
func (r *listReader) next() (query int, size int64, version string) {
	r.name = r.name[:r.number()]
	r.name = append(r.name, r.bytes(r.number())...)
	query, size = r.number(), int64(r.number())-1
	switch code := r.number(); code {
	case 0:
		version = string(r.bytes(r.number()))
	case 1:
		version = `"` + hex.EncodeToString(r.bytes(16)) + `"`
	default:
		version = `"` + hex.EncodeToString(r.bytes(16)) + "-" + strconv.Itoa(code-2) + `"`
	}
	return query, size, version
}

// at returns entry i, at the cost of reading up to 16 records.
func (l *fileList) at(i int) fileEntry {
	r := listReader{fileList: l, at: l.blocks[i/listBlock]}
	for range i % listBlock {
		r.next()
	}
	return r.entry()
}

func (r *listReader) entry() fileEntry {
	q, size, version := r.next()
	return fileEntry{string(r.name) + r.queries[q], size, version, r.table != nil && r.plan == "", r.plan}
}

// all lists the entries in order.
func (l *fileList) all() iter.Seq2[int, fileEntry] {
	return func(yield func(int, fileEntry) bool) {
		r := listReader{fileList: l}
		for i := range l.count {
			if !yield(i, r.entry()) {
				return
			}
		}
	}
}

// paths lists the paths in order.
func (l *fileList) paths() []string {
	paths := make([]string, 0, l.count)
	for _, e := range l.all() {
		paths = append(paths, e.path)
	}
	return paths
}

// sources are the paths and all else that the list was read from.
func (l *fileList) sources() []string { return append(l.paths(), l.lists...) }

// bytes is what the list holds.
func (l *fileList) bytes() int64 {
	n := int64(cap(l.records) + 8*cap(l.blocks))
	if l.keys != nil {
		n += 16 * int64(l.count*len(l.keys.keys))
	}
	return n
}

// mergeLists merges lists into one, in order; of a file that is named twice the path comes back.
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
			query[k], size[k], version[k] = from[k].next()
		}
	}
	for left[0]+left[1] > 0 {
		k := 0
		if left[0] == 0 || left[1] > 0 && string(from[1].name) < string(from[0].name) {
			k = 1
		}
		r := &from[k]
		name := string(r.name)
		if merged.count > 0 && merged.last == name {
			return nil, name
		}
		merged.add(name, r.queries[query[k]], size[k], version[k])
		if left[k]--; left[k] > 0 {
			query[k], size[k], version[k] = r.next()
		}
	}
	return merged, ""
}

// keep is the list of those entries, with their places among the old ones, that wanted holds of.
func (l *fileList) keep(wanted func(i int, path string) bool) *fileList {
	kept := l.empty()
	r := listReader{fileList: l}
	for i := range l.count {
		query, size, version := r.next()
		if !wanted(i, string(r.name)+l.queries[query]) {
			continue
		}
		kept.add(string(r.name), l.queries[query], size, version)
		if l.keys != nil {
			kept.keys.add(l.keys.at(i))
		}
	}
	return kept
}
