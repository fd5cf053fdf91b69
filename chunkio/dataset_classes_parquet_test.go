package chunkio

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/stream"
)

// naiveText is the text of a value in formattest's Dump; NaN is missing, as in any column.
func naiveText(t *testing.T, node *schema.PrimitiveNode, value string) string {
	t.Helper()
	if value == "null" {
		return formattest.NoName
	}
	integer := func() int64 {
		n, err := strconv.ParseInt(value, 10, 64)
		formattest.Must(t, err)
		return n
	}
	bytes := func() []byte {
		b, err := hex.DecodeString(value)
		formattest.Must(t, err)
		return b
	}
	float := func(x float64, bits int) string {
		switch {
		case x == 0: // of either sign
			return "0"
		case math.IsNaN(x):
			return formattest.NoName
		}
		return formattest.NaiveFloat(x, bits)
	}
	switch typ := node.LogicalType().(type) {
	case schema.StringLogicalType:
		s, err := strconv.Unquote(value)
		formattest.Must(t, err)
		return s
	case schema.DateLogicalType:
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(integer())).Format(time.DateOnly)
	case *schema.TimestampLogicalType:
		nanos := map[schema.TimeUnitType]int64{schema.TimeUnitMillis: 1e6, schema.TimeUnitMicros: 1e3, schema.TimeUnitNanos: 1}[typ.TimeUnit()]
		text := time.Unix(0, integer()*nanos).UTC().Format("2006-01-02T15:04:05.999999999")
		if typ.IsAdjustedToUTC() {
			text += "Z"
		}
		return text
	case *schema.DecimalLogicalType:
		n := new(big.Int)
		if node.PhysicalType() != parquet.Types.FixedLenByteArray {
			n.SetInt64(integer())
		} else if b := bytes(); n.SetBytes(b).Bit(8*len(b)-1) == 1 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(typ.Scale())), nil)
		return new(big.Rat).SetFrac(n, power).FloatString(int(typ.Scale()))
	case schema.Float16LogicalType:
		return float(formattest.NaiveHalf(binary.LittleEndian.Uint16(bytes())), 32)
	case *schema.IntLogicalType:
		if typ.BitWidth() == 64 && !typ.IsSigned() {
			return fmt.Sprint(uint64(integer()))
		}
	}
	switch number, _, _ := strings.Cut(value, " "); node.PhysicalType() {
	case parquet.Types.Float, parquet.Types.Double:
		bits := 64
		if node.PhysicalType() == parquet.Types.Float {
			bits = 32
		}
		x, err := strconv.ParseFloat(number, bits)
		formattest.Must(t, err)
		return float(x, bits)
	case parquet.Types.Int96:
		return fmt.Sprintf("-2440588d%dns", binary.LittleEndian.Uint64(bytes()))
	}
	return value
}

func naiveTexts(t *testing.T, l *formattest.Leaf) (texts []string) {
	t.Helper()
	for _, v := range l.RowTexts() {
		texts = append(texts, naiveText(t, l.Node, v))
	}
	return texts
}

// Every physical type as the label of two files whose columns differ in their
// dictionaries, whole and in the smallest spans, equals v15's own reading.
func TestParquetClassesOfEveryType(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "a.parquet"), filepath.Join(dir, "b.parquet")}
	formattest.WriteEveryType(t, paths[0], 0, 500, 1, 300)
	formattest.WriteEveryType(t, paths[1], 77, 400)
	a, b := formattest.ReadDump(t, paths[0]), formattest.ReadDump(t, paths[1])
	for i, l := range a.Leaves {
		if l.Top == "emb" || l.Path == "geo.name" {
			continue
		}
		want := slices.Concat(naiveTexts(t, &l), naiveTexts(t, &b.Leaves[i]))
		opt := Options{Classes: true, Target: true, Times: true, Label: l.Path, Columns: []string{"r_u8"}, Threads: 2}
		if l.Path == "r_u8" {
			opt.Columns = []string{"r_u64"}
		}
		for _, memory := range []int64{0, 1} {
			ds, err := Open(t.Context(), paths, opt)
			formattest.Must(t, err)
			if memory > 0 {
				opt.Memory = ds.MinMemory()
				ds, err = Open(t.Context(), paths, opt)
				formattest.Must(t, err)
			}
			got, _, err := labelled(ds, stream.Range{})
			if err != nil || dataset.TableOf(ds).Features.Target == nil {
				t.Fatalf("%s: targets %v, error %v", l.Path, dataset.TableOf(ds).Features.Target, err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: classes %q, want %q", l.Path, got, want)
			}
		}
	}
	for _, label := range []string{"emb", "geo"} {
		if _, err := Open(t.Context(), paths, Options{Classes: true, Label: label}); !chunkiotest.IsUsage(err) {
			t.Errorf("label %s: error %v, want a usage error", label, err)
		}
	}
}

// messy.parquet is like real tables: it has nulls, empty and non-ASCII text, a flag, a day, a price and a timestamp.
func TestMessyClasses(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	for _, label := range []string{"category", "flag", "day", "ts", "price"} {
		ds, err := Open(t.Context(), []string{path}, Options{Classes: true, Target: true, Label: label, Missing: stream.MissingKeep})
		formattest.Must(t, err)
		got, _, err := labelled(ds, stream.Range{})
		if err != nil {
			t.Errorf("classes and targets of label %s: %v", label, err)
			continue
		}
		if want := naiveTexts(t, formattest.ReadDump(t, path, label).FindLeaf(label)); !slices.Equal(got, want) {
			t.Errorf("%s: other classes", label)
		}
	}
}
