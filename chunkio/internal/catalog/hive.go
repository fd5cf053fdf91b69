package catalog

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/where"
	"github.com/ufs-stream/ufs-stream/internal/app/condition"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Partition is a column from the key=value folders of the paths, with one value for each file.
type Partition struct {
	Key       string
	Why       string    // the reason that it is not a feature; empty if it is numeric or boolean
	Values    []float64 // by file; nil if it is not a feature; format.Null for a null
	IsBool    bool      // boolean: the values are 0 and 1
	Typ       string    // type in the schema of a table; empty if the values decide
	LeafAfter int       // the leaf that follows it in the schema of a table, counted from 1; 0 if no leaf does
}

// AlignKeyValues returns a path's values in the order of keys. It fails unless these are the keys of the path.
func AlignKeyValues(path, reference string, keys, pathKeys, values []string) ([]string, error) {
	if len(pathKeys) != len(keys) {
		return nil, errPartitionKeysDiffer(path, reference, pathKeys, keys)
	}
	aligned := make([]string, len(keys))
	for i, key := range keys {
		at := slices.Index(pathKeys, key)
		if at < 0 {
			return nil, errPartitionKeysDiffer(path, reference, pathKeys, keys)
		}
		aligned[i] = values[at]
	}
	return aligned, nil
}

func errPartitionKeysDiffer(path, referencePath string, pathKeys, keys []string) error {
	return stream.Dataf(path, "its partition keys (%s) differ from those of %s (%s)",
		joinKeysForMessage(pathKeys), referencePath, joinKeysForMessage(keys))
}

func joinKeysForMessage(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	return strings.Join(keys, ", ")
}

func keyKindsAllowedByType(typ string) (mayBeNumber, mayBeBool bool) {
	_, mayBeNumber = format.CommonType(typ, "double")
	mayBeBool = typ == "bool"
	return typ == "" || mayBeNumber && !mayBeBool, typ == "" || mayBeBool
}

// newPartition makes the column of one key from its text in every file. It is numeric if every value that is not null
// is a plain decimal number, and boolean if every such value is true or false, unless a table gives it another type.
func newPartition(key string, texts []string, typ string) Partition {
	p := Partition{Key: key, Typ: typ}
	number, truth := keyKindsAllowedByType(typ)
	var known int
	err := fmt.Errorf("it is %s", typ)
	if number {
		p.Values, known, err = parseKeyValues(texts, ParseDecimal)
	}
	if truth && err != nil {
		p.IsBool = true
		p.Values, known, err = parseKeyValues(texts, ParseBoolNumber)
	}
	switch {
	case err != nil && typ != "" && typ != "string":
		return Partition{Key: key, Typ: typ, Why: typ + " (partition key)"}
	case err != nil:
		return Partition{Key: key, Typ: typ, Why: "text (partition key)"}
	case known == 0:
		return Partition{Key: key, Typ: typ, Why: "null in every partition"}
	}
	return p
}

func parseKeyValues(texts []string, parse func(string) (float64, error)) (values []float64, nonNullCount int, err error) {
	values = make([]float64, len(texts))
	for i, text := range texts {
		if text == listing.HiveNull {
			values[i] = format.Null
			continue
		}
		if values[i], err = parse(text); err != nil {
			return nil, 0, err
		}
		nonNullCount++
	}
	return values, nonNullCount, nil
}

// ParseBoolNumber returns 1 for true and 0 for false, in any case.
func ParseBoolNumber(s string) (float64, error) {
	switch strings.ToLower(s) {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	return 0, fmt.Errorf("%q is not a boolean", s)
}

// ParseDecimal parses finite decimals only. In folder names, "inf", "nan" and hexadecimal numbers are texts.
func ParseDecimal(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(x, 0) || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, fmt.Errorf("%q is not a decimal number", s)
	}
	return x, nil
}

// keyColumnCheck compares a column of a file with the file's value for the partition key of that name.
type keyColumnCheck struct {
	path      string
	file      format.File
	leaf      int
	key, want string
	memory    int64
}

func (c *keyColumnCheck) compareAllGroupsWithKey(ctx context.Context) error {
	l := c.file.Leaves()[c.leaf]
	if l.NoClass != "" {
		return c.errDiffersFromKey(-1, -1, "the column of this name holds "+l.NoClass)
	}
	start := int64(0)
	for g, rows := range c.file.GroupRows() {
		if rows > 0 && !c.statisticsProveEqualToKey(g, l) {
			if err := c.compareGroupRowsWithKey(ctx, g, rows, start, l); err != nil {
				return err
			}
		}
		start += rows
	}
	return nil
}

func (c *keyColumnCheck) statisticsProveEqualToKey(group int, leaf format.Leaf) bool {
	bounded, ok := c.file.(format.Bounded)
	if !ok {
		return false
	}
	b := bounded.Bounds(group, c.leaf)
	switch {
	case c.isNull():
		return b.Nulls == b.Rows
	case b.Nulls != 0 || !b.Min.Known || !b.Max.Known || leaf.MaybeNaN:
		return false
	case b.Min.Text != nil:
		return bytes.Equal(b.Min.Text, b.Max.Text) && equalsKey(leaf, b.Min.Text, c.want)
	case comparisonKindOfLeaf(leaf).Class == where.Truth:
		return b.Min.Number == b.Max.Number && equalsKey(leaf, strconv.AppendBool(nil, b.Min.Number == 1), c.want)
	case comparisonKindOfLeaf(leaf).IsNumeric() && math.Abs(b.Min.Number) < 1<<53:
		return b.Min.Number == b.Max.Number && equalsKey(leaf, strconv.AppendFloat(nil, b.Min.Number, 'f', -1, 64), c.want)
	}
	return false
}

// isNull reports whether the key is null, or empty, which Hive writes as null.
func (c *keyColumnCheck) isNull() bool { return c.want == listing.HiveNull || c.want == "" }

func (c *keyColumnCheck) compareGroupRowsWithKey(ctx context.Context, g int, rows, start int64, l format.Leaf) error {
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
				return c.errDiffersFromKey(g, row, "the column of this name is null")
			case id >= 0 && (c.isNull() && len(values.Value(int(id))) > 0 || !c.isNull() && !equalsKey(l, values.Value(int(id)), c.want)):
				return c.errDiffersFromKey(g, row, fmt.Sprintf("the column of this name has %.80q", values.Value(int(id))))
			}
			last = id
			row++
		}
		return nil
	})
}

func (c *keyColumnCheck) errDiffersFromKey(group int, row int64, difference string) error {
	value := strconv.Quote(c.want)
	if c.want == listing.HiveNull {
		value = "null"
	}
	e := stream.Dataf(c.path, "the partition key in the path is %s, and %s", value, difference)
	e.RowGroup, e.Row, e.Column = group, row, c.key
	e.Remedy = stream.Textf("write the file without the column, or rename the key's folders; {exclude %s} leaves out both", c.key)
	return e
}

// equalsKey reports whether a value of a leaf, as text, equals a key: numbers, booleans and times may be written
// differently in a path, such as month=01 or a time with a blank.
func equalsKey(l format.Leaf, value []byte, key string) bool {
	if string(value) == key {
		return true
	}
	switch kind := comparisonKindOfLeaf(l); kind.Class {
	case where.Float:
		x, err1 := strconv.ParseFloat(string(value), kind.Bits)
		y, err2 := strconv.ParseFloat(key, kind.Bits)
		return err1 == nil && err2 == nil && x == y
	case where.Integer, where.Decimal:
		x, err1 := condition.ParseNumber(string(value))
		y, err2 := condition.ParseNumber(key)
		return err1 == nil && err2 == nil && x.Cmp(y) == 0
	case where.Truth:
		x, err1 := ParseBoolNumber(string(value))
		y, err2 := ParseBoolNumber(key)
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
