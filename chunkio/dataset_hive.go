package chunkio

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/where"
	"github.com/ufs-stream/ufs-stream/internal/condition"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// hiveNull is the folder name that Hive and its successors write for a null key.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// partition is a column from the key=value folders of the paths, with one value for each file.
type partition struct {
	key       string
	why       string    // the reason that it is not a feature; empty if it is numeric or boolean
	values    []float64 // by file; nil if it is not a feature; format.Null for a null
	isBool    bool      // boolean: the values are 0 and 1
	typ       string    // type in the schema of a table; empty if the values decide
	leafAfter int       // the leaf that follows it in the schema of a table, counted from 1; 0 if no leaf does
}

// hiveParts returns the keys and values of the key=value folders of a path, from the outermost folder to the innermost.
// All folders of the path as given count, so that a file has the same columns whether an argument is the file, a glob
// or a directory above it.
func hiveParts(path string) (keys, values []string, err error) {
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

// partitionValues returns the partition keys and values of file i, from a table's log, from a plan or from its path.
func (l *fileList) partitionValues(i int, path string) (keys, values []string, err error) {
	if l.keyTexts == nil {
		return hiveParts(path)
	}
	return l.keyTexts.keys, l.keyTexts.fileValues(i), nil
}

// keyTexts contains the partition values of a list of files if they come from a table's log or a plan, not from paths.
type keyTexts struct {
	keys  []string
	texts [][]string // by key, by file; hiveNull for a null
}

func newKeyTexts(keys []string) *keyTexts {
	return &keyTexts{keys, make([][]string, len(keys))}
}

// addFileValues adds the values of a further file. Consecutive files mostly have the same values and share the strings.
func (t *keyTexts) addFileValues(values []string) {
	for k, v := range values {
		if n := len(t.texts[k]); n > 0 && t.texts[k][n-1] == v {
			v = t.texts[k][n-1]
		}
		t.texts[k] = append(t.texts[k], v)
	}
}

func (t *keyTexts) fileValues(i int) []string {
	values := make([]string, len(t.keys))
	for k := range values {
		values[k] = t.texts[k][i]
	}
	return values
}

func (c *catalog) partitionText(i, part int) (string, error) {
	keys, values, err := c.list.partitionValues(i, c.list.entryAt(i).path)
	if err != nil {
		return "", err
	}
	at := slices.Index(keys, c.parts[part].key)
	if at < 0 {
		return "", stream.Dataf(c.fileName(i), "the path lacks the partition key %q", c.parts[part].key)
	}
	return values[at], nil
}

func alignKeyValues(path, reference string, keys, pathKeys, values []string) ([]string, error) {
	if len(pathKeys) != len(keys) {
		return nil, errKeysDiffer(path, reference, pathKeys, keys)
	}
	aligned := make([]string, len(keys))
	for i, key := range keys {
		at := slices.Index(pathKeys, key)
		if at < 0 {
			return nil, errKeysDiffer(path, reference, pathKeys, keys)
		}
		aligned[i] = values[at]
	}
	return aligned, nil
}

func errKeysDiffer(path, reference string, pathKeys, keys []string) error {
	return stream.Dataf(path, "its partition keys (%s) differ from those of %s (%s)",
		keyListText(pathKeys), reference, keyListText(keys))
}

func keyListText(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	return strings.Join(keys, ", ")
}

func (l *fileList) keyType(key string) string {
	if l.schema == nil {
		return ""
	}
	typ, _ := l.schema.ColumnType([]string{key})
	return typ
}

func possibleKeyKinds(typ string) (number, truth bool) {
	_, number = format.CommonType(typ, "double")
	truth = typ == "bool"
	return typ == "" || number && !truth, typ == "" || truth
}

// newPartition makes the column of one key from its text in every file. It is numeric if every value that is not null
// is a plain decimal number, and boolean if every such value is true or false, unless a table gives it another type.
func newPartition(key string, texts []string, typ string) partition {
	p := partition{key: key, typ: typ}
	number, truth := possibleKeyKinds(typ)
	var known int
	err := fmt.Errorf("it is %s", typ)
	if number {
		p.values, known, err = parseKeyValues(texts, parseDecimal)
	}
	if truth && err != nil {
		p.isBool = true
		p.values, known, err = parseKeyValues(texts, parseBoolNumber)
	}
	switch {
	case err != nil && typ != "" && typ != "string":
		return partition{key: key, typ: typ, why: typ + " (partition key)"}
	case err != nil:
		return partition{key: key, typ: typ, why: "text (partition key)"}
	case known == 0:
		return partition{key: key, typ: typ, why: "null in every partition"}
	}
	return p
}

func parseKeyValues(texts []string, parse func(string) (float64, error)) (values []float64, known int, err error) {
	values = make([]float64, len(texts))
	for i, text := range texts {
		if text == hiveNull {
			values[i] = format.Null
			continue
		}
		if values[i], err = parse(text); err != nil {
			return nil, 0, err
		}
		known++
	}
	return values, known, nil
}

func parseBoolNumber(s string) (float64, error) {
	switch strings.ToLower(s) {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	return 0, fmt.Errorf("%q is not a boolean", s)
}

// parseDecimal parses finite decimals only. ParseFloat alone would also accept "inf", "nan" and hexadecimal numbers,
// which are texts in folder names.
func parseDecimal(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(x, 0) || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, fmt.Errorf("%q is not a decimal number", s)
	}
	return x, nil
}

// dropKeyColumns marks the columns of a file that have the name of a partition key with noColumn: some writers store a
// key in the files too. All values of such a column must be equal to the value of the key in the path. The key stays a
// column of the dataset.
func (b *catalogBuilder) dropKeyColumns(ctx context.Context, path string, opened format.File, names []leafName, keys, values []string, memory int64) error {
	for i := range names {
		k := slices.Index(keys, names[i].name)
		if k < 0 || names[i].nth == noColumn {
			continue
		}
		names[i].nth = noColumn
		if opened.Leaves()[i].Type == "string" {
			b.textKeys[keys[k]] = true
		}
		needed := b.isUnused == nil || !b.isUnused(keys[k])
		if b.filter != nil && !needed {
			_, needed = b.filter.keys[keys[k]]
		}
		if !needed {
			continue
		}
		if err := (&keyColumnCheck{path: path, file: opened, leaf: i, key: keys[k], want: values[k], memory: memory}).compareGroups(ctx); err != nil {
			return err
		}
	}
	return nil
}

// keyColumnCheck compares a column of a file with the file's value for the partition key of that name.
type keyColumnCheck struct {
	path      string
	file      format.File
	leaf      int
	key, want string
	memory    int64
}

func (c *keyColumnCheck) compareGroups(ctx context.Context) error {
	l := c.file.Leaves()[c.leaf]
	if l.NoClass != "" {
		return c.errColumnDiffers(-1, -1, "the column of this name holds "+l.NoClass)
	}
	start := int64(0)
	for g, rows := range c.file.GroupRows() {
		if rows > 0 && !c.isEqualByStatistics(g, l) {
			if err := c.compareRows(ctx, g, rows, start, l); err != nil {
				return err
			}
		}
		start += rows
	}
	return nil
}

func (c *keyColumnCheck) isEqualByStatistics(g int, l format.Leaf) bool {
	bounded, ok := c.file.(format.Bounded)
	if !ok {
		return false
	}
	b := bounded.Bounds(g, c.leaf)
	switch {
	case c.isNull():
		return b.Nulls == b.Rows
	case b.Nulls != 0 || !b.Min.Known || !b.Max.Known || l.MaybeNaN:
		return false
	case b.Min.Text != nil:
		return bytes.Equal(b.Min.Text, b.Max.Text) && equalsKey(l, b.Min.Text, c.want)
	case leafKind(l).Class == where.Truth:
		return b.Min.Number == b.Max.Number && equalsKey(l, strconv.AppendBool(nil, b.Min.Number == 1), c.want)
	case leafKind(l).IsNumeric() && math.Abs(b.Min.Number) < 1<<53:
		return b.Min.Number == b.Max.Number && equalsKey(l, strconv.AppendFloat(nil, b.Min.Number, 'f', -1, 64), c.want)
	}
	return false
}

// isNull reports whether the key is null, or empty, which Hive writes as null.
func (c *keyColumnCheck) isNull() bool { return c.want == hiveNull || c.want == "" }

func (c *keyColumnCheck) compareRows(ctx context.Context, g int, rows, start int64, l format.Leaf) error {
	if l.TextScratch > c.memory {
		return &stream.MemoryError{What: "comparing a column with its partition key", Need: l.TextScratch, Limit: c.memory, AtLeast: true}
	}
	group, err := c.file.Open(ctx, g, []int{c.leaf})
	if err != nil {
		return err
	}
	defer group.Close()
	row := start
	return group.DecodeTexts(ctx, c.leaf, 0, rows, func(ids []int32, values *text.List) error {
		last := int32(-2) // id of the previous value, which equals the key; -2 before the first value
		for _, id := range ids {
			switch {
			case id == last:
			case id < 0 && !c.isNull():
				return c.errColumnDiffers(g, row, "the column of this name is null")
			case id >= 0 && (c.isNull() && len(values.Value(int(id))) > 0 || !c.isNull() && !equalsKey(l, values.Value(int(id)), c.want)):
				return c.errColumnDiffers(g, row, fmt.Sprintf("the column of this name has %.80q", values.Value(int(id))))
			}
			last = id
			row++
		}
		return nil
	})
}

func (c *keyColumnCheck) errColumnDiffers(group int, row int64, what string) error {
	value := strconv.Quote(c.want)
	if c.want == hiveNull {
		value = "null"
	}
	e := stream.Dataf(c.path, "the partition key in the path is %s, and %s", value, what)
	e.RowGroup, e.Row, e.Column = group, row, c.key
	e.Remedy = stream.Textf("write the file without the column, or rename the key's folders; {exclude} %s leaves out both", c.key)
	return e
}

// equalsKey reports whether a value of a leaf, as text, equals a key: numbers, booleans and times may be written
// differently in a path, such as month=01 or a time with a blank.
func equalsKey(l format.Leaf, value []byte, key string) bool {
	if string(value) == key {
		return true
	}
	switch kind := leafKind(l); kind.Class {
	case where.Float:
		x, err1 := strconv.ParseFloat(string(value), kind.Bits)
		y, err2 := strconv.ParseFloat(key, kind.Bits)
		return err1 == nil && err2 == nil && x == y
	case where.Integer, where.Decimal:
		x, err1 := condition.ParseNumber(string(value))
		y, err2 := condition.ParseNumber(key)
		return err1 == nil && err2 == nil && x.Cmp(y) == 0
	case where.Truth:
		x, err1 := parseBoolNumber(string(value))
		y, err2 := parseBoolNumber(key)
		return err1 == nil && err2 == nil && x == y
	case where.Date, where.Timestamp:
		x, ok := text.ParseInstant(value, l.PerSecond)
		for _, parse := range []func(string) (time.Time, bool){condition.ParseUTC, condition.ParseDate} {
			if y, known := parse(key); known {
				return ok && x.Compare(text.Instant{Second: y.Unix(), Nano: int32(y.Nanosecond())}) == 0
			}
		}
	}
	return false
}
