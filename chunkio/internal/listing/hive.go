package listing

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// HiveNull is the folder name that Hive and its successors write for a null key.
const HiveNull = "__HIVE_DEFAULT_PARTITION__"

// HiveParts returns the partition keys and values in a path, from its folders named key=value, the outermost folder
// first. All folders of the path as given count, so that a file has the same columns whether an argument is the file, a
// glob or a directory above it.
func HiveParts(path string) (keys, values []string, err error) {
	if loc, err := store.Parse(path); store.IsURL(path) && err == nil {
		path = loc.Key                             // the query contains = characters too
		if strings.HasPrefix(loc.Scheme, "http") { // URLs escape characters that folder names do not
			if plain, err := url.PathUnescape(path); err == nil {
				path = plain
			}
		}
	}
	folders := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	for _, folder := range folders {
		key, value, ok := strings.Cut(folder, "=")
		if !ok || key == "" {
			continue
		}
		for _, part := range []*string{&key, &value} {
			if plain, err := url.PathUnescape(*part); err == nil {
				*part = plain
			}
		}
		if slices.Contains(keys, key) {
			e := stream.Dataf(path, "the partition key %q occurs twice in the path", key)
			e.Remedy = stream.Textf("rename one of the folders")
			return nil, nil, e
		}
		keys, values = append(keys, key), append(values, value)
	}
	return keys, values, nil
}

// PartitionValues returns the partition keys and values of file i, from a table's log, from a plan or from its path.
func (l *List) PartitionValues(i int, path string) (keys, values []string, err error) {
	if l.KeyTexts == nil {
		return HiveParts(path)
	}
	return l.KeyTexts.Keys, l.KeyTexts.FileValues(i), nil
}

// KeyTexts contains the partition values of a list of files if they come from a table's log or a plan, not from paths.
type KeyTexts struct {
	Keys  []string
	Texts [][]string // by key, by file; HiveNull for a null
}

// NewKeyTexts returns the empty values of the keys.
func NewKeyTexts(keys []string) *KeyTexts {
	return &KeyTexts{keys, make([][]string, len(keys))}
}

// AddFileValues adds the values of a further file. Consecutive files mostly have the same values and share the strings.
func (t *KeyTexts) AddFileValues(values []string) {
	for k, v := range values {
		if n := len(t.Texts[k]); n > 0 && t.Texts[k][n-1] == v {
			v = t.Texts[k][n-1]
		}
		t.Texts[k] = append(t.Texts[k], v)
	}
}

// FileValues returns the values of file i.
func (t *KeyTexts) FileValues(i int) []string {
	values := make([]string, len(t.Keys))
	for k := range values {
		values[k] = t.Texts[k][i]
	}
	return values
}

// KeyType returns the type of a partition key in the schema of the table, or "".
func (l *List) KeyType(key string) string {
	if l.Schema == nil {
		return ""
	}
	typ, _ := l.Schema.ColumnType([]string{key})
	return typ
}
