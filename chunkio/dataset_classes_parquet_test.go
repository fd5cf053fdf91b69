package chunkio

import (
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// naiveText is the text of a value as dumpFile tells it.
func naiveText(t *testing.T, name, value string) string {
	t.Helper()
	number, _, _ := strings.Cut(value, " ")
	integer := func() int64 { n, _ := strconv.ParseInt(value, 10, 64); return n }
	switch name {
	case "text":
		s, err := strconv.Unquote(value)
		formattest.Must(t, err)
		return s
	case "float", "double":
		bits := 64
		if name == "float" {
			bits = 32
		}
		x, err := strconv.ParseFloat(number, bits)
		formattest.Must(t, err)
		if x == 0 {
			return "0"
		}
		return formattest.NaiveFloat(x, bits)
	case "u64":
		return fmt.Sprint(uint64(integer()))
	case "ts":
		return time.Unix(0, integer()).UTC().Format(time.RFC3339Nano)
	case "day":
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(integer())).Format(time.DateOnly)
	case "decimal", "half", "i96":
		b := make([]byte, len(value)/2)
		for i := range b {
			n, err := strconv.ParseUint(value[2*i:2*i+2], 16, 8)
			formattest.Must(t, err)
			b[i] = byte(n)
		}
		switch name {
		case "i96":
			return fmt.Sprintf("-2440588d%dns", int(b[0])|int(b[1])<<8|int(b[2])<<16)
		case "half":
			if x := formattest.NaiveHalf(uint16(b[0]) | uint16(b[1])<<8); x != 0 {
				return formattest.NaiveFloat(x, 32)
			}
			return "0"
		}
		n := new(big.Int).SetBytes(b)
		if b[0] >= 128 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 72))
		}
		return new(big.Rat).SetFrac(n, big.NewInt(1000)).FloatString(3)
	}
	return value
}

// Every physical type as the label of two files whose columns differ in their
// dictionaries, whole and in the smallest spans, equals v15's own reading.
func TestParquetClassesOfEveryType(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "a.parquet"), filepath.Join(dir, "b.parquet")}
	formattest.WriteEveryType(t, paths[0], 0, 500, 1, 300)
	formattest.WriteEveryType(t, paths[1], 77, 400)
	a, b := formattest.Read(t, paths[0]), formattest.Read(t, paths[1])
	for i, l := range a.Leaves {
		if l.Top == "emb" || l.Path == "geo.name" {
			continue
		}
		kind := l.Path
		if _, rest, ok := strings.Cut(l.Path, "_"); ok {
			kind = rest
		} else if l.Path == "geo.lat" {
			kind = "double"
		}
		var want []string
		for _, v := range slices.Concat(l.Rows(), b.Leaves[i].Rows()) {
			text := formattest.NoName
			if v != "null" {
				text = naiveText(t, kind, v)
			}
			if text == "NaN" { // of floats only here: missing, as in any column
				text = formattest.NoName
			}
			want = append(want, text)
		}
		opt := Options{Classes: true, Label: l.Path, Columns: []string{"r_u8"}, Threads: 2}
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
			if err != nil {
				t.Fatalf("%s: %v", l.Path, err)
			}
			for i := range want {
				if len(got) != len(want) || got[i] != want[i] {
					t.Fatalf("%s, row %d: %q, want %q", l.Path, i, got[i], want[i])
				}
			}
		}
	}
	for _, label := range []string{"emb", "geo"} {
		if _, err := Open(t.Context(), paths, Options{Classes: true, Label: label}); !isUsage(err) {
			t.Errorf("label %s: error %v, want a usage error", label, err)
		}
	}
}

// messy.parquet has what real tables have: nulls, empty and non-ASCII text, a flag, a
// day, a price and a timestamp.
func TestMessyClasses(t *testing.T) {
	path := formattest.RealFile(t, "messy.parquet")
	for _, label := range []string{"category", "flag", "day", "ts", "price"} {
		ds, err := Open(t.Context(), []string{path}, Options{Classes: true, Label: label, Missing: stream.MissingKeep})
		formattest.Must(t, err)
		got, _, err := labelled(ds, stream.Range{})
		if err != nil {
			t.Errorf("%s: %v", label, err)
			continue
		}
		var want []string
		kind := map[string]string{"category": "text", "flag": "bool", "day": "day"}[label]
		dumped := formattest.Read(t, path, label).Column(label)
		for _, v := range dumped.Rows() {
			switch {
			case v == "null":
				want = append(want, formattest.NoName)
			case label == "ts":
				n, err := strconv.ParseInt(v, 10, 64)
				formattest.Must(t, err)
				typ := dumped.Node.LogicalType().(*schema.TimestampLogicalType)
				at := time.UnixMicro(n)
				if typ.TimeUnit() != schema.TimeUnitMicros {
					at = time.Unix(0, n*map[schema.TimeUnitType]int64{schema.TimeUnitMillis: 1e6, schema.TimeUnitNanos: 1}[typ.TimeUnit()])
				}
				text := at.UTC().Format("2006-01-02T15:04:05.999999999")
				if typ.IsAdjustedToUTC() {
					text += "Z"
				}
				want = append(want, text)
			case label == "price": // decimal(10,2)
				base := 10
				if dumped.Node.PhysicalType() == parquet.Types.FixedLenByteArray {
					base = 16
				}
				n, ok := new(big.Int).SetString(v, base)
				if !ok {
					t.Fatal(v)
				}
				if size := uint(4 * len(v)); base == 16 && n.Bit(int(size)-1) == 1 {
					n.Sub(n, new(big.Int).Lsh(big.NewInt(1), size))
				}
				want = append(want, new(big.Rat).SetFrac(n, big.NewInt(100)).FloatString(2))
			default:
				want = append(want, naiveText(t, kind, v))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: other classes", label)
		}
	}
}
