package intake

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func parseNaive(s string) (float64, error) { return strconv.ParseFloat(s, 64) }

// npy is an array as numpy.save writes it: in version 1, or 3 if the header is not all ASCII.
func npy(header string, data any) string {
	var b bytes.Buffer
	header += "\n"
	if strings.ContainsFunc(header, func(r rune) bool { return r > 126 }) {
		b.WriteString(NPYMagic + "\x03\x00")
		binary.Write(&b, binary.LittleEndian, uint32(len(header)))
	} else {
		b.WriteString(NPYMagic + "\x01\x00")
		binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	}
	b.WriteString(header)
	binary.Write(&b, binary.LittleEndian, data)
	return b.String()
}

func TestNPY(t *testing.T) {
	exact := Options{Exact: anyColumn}
	c := "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2), }"
	wants(t, NPY, npy(c, []int32{1, 2, 3, 4, -5, 6}), exact, "x[0] int64: 1|3|-5", "x[1] int64: 2|4|6")
	wants(t, NPY, npy(strings.Replace(c, "False", "True", 1), []int32{1, 3, -5, 2, 4, 6}), exact, "x[0] int64: 1|3|-5", "x[1] int64: 2|4|6")
	wants(t, NPY, npy(c, []int32{1, 2, 3, 4, -5, 6}), Options{}, "x[0] double: 1|3|-5", "x[1] double: 2|4|6")
	wants(t, NPY, npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2,), }", []float64{0.5, math.NaN()}), exact, "x double: 0.5|NaN")
	wants(t, NPY, npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2, 1), }", []byte{0, 1}), exact, "x[0] bool: false|true")
	wants(t, NPY, npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1), }", []byte{0x3F, 0xC0, 0, 0}), exact, "x[0] double: 1.5")
	wants(t, NPY, npy("{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }", []byte{0, 0x3E}), exact, "x double: 1.5")
	wants(t, NPY, npy("{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }", []uint64{1<<63 + 1, 7}), exact, "x uint64: 9223372036854775809|7")
	wants(t, NPY, npy("{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }", []uint64{1<<63 + 1, 7}), Options{}, "x double: 9223372036854776000|7")
	wants(t, NPY, npy("{'descr': [('a', '<i2'), ('', '|V2'), ('b', '<f4', (2,)), ('s', '|S3'), ('u', '<U2')], 'fortran_order': False, 'shape': (1,), }",
		[]byte("\x07\x00..\x00\x00\xC0\x3F\x00\x00\x00\x40ab\x00\xE9\x00\x00\x00\x00\x00\x00\x00")), exact,
		"a int64: 7", "b[0] double: 1.5", "b[1] double: 2", "s string: ab", "u string: é")
	wants(t, NPY, npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2), }", []float64{}), exact, "x[0] double: ", "x[1] double: ")
	for _, x := range [][2]string{
		{"", "ends early"}, {NPYMagic, "ends early"}, {NPYMagic + "\x09\x00", "version 9"}, {NPYMagic + "\x01\x00\xFF\xFF{}", "ends early"},
		{npy("{'descr': '<f8'", []byte{}), "header"},
		{npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", []byte{}), "objects of Python"},
		{npy("{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}", []byte{}), "c16"},
		{npy("{'descr': '<M8[s]', 'fortran_order': False, 'shape': (1,)}", []byte{}), "M8[s]"},
		{npy("{'descr': [('a', '<M8[s]')], 'fortran_order': False, 'shape': (1,)}", []int64{1}), `column "a": the input has no column that can be read: values of type "<M8[s]"`},
		{npy("{'descr': [('a', '|O'), ('b', '<i4')], 'fortran_order': False, 'shape': (1,)}", []byte{}), "objects of Python"},
		{npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 2)}", []byte{}), "3 dimensions"},
		{npy("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", []byte{}), "0 dimensions"},
		{npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2)}", []byte{}), "shape"},
		{npy("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 16777216)}", []byte{}), "rows"},
		{npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}", []float64{1, 2, 3}), "the data end in row 1 of the 3"},
		{npy("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2)}", []float64{1, 2, 3}), "the data end"},
		{npy("{'descr': [('a', '<f8'), ('a', '<f8')], 'fortran_order': False, 'shape': (3,)}", []byte{}), "two fields"},
	} {
		refuses(t, NPY, x[0], x[1])
	}
}

// Fields of a known size that cannot be read are passed over and named, and the others work.
func TestNPYFieldsThatCannotBeRead(t *testing.T) {
	const head = "{'descr': [('a', '<i4'), ('e', '<M8[ns]'), ('b', '|i1'), ('m', '<m8', (2,)), ('', '|V1'), ('c', '<c8'), ('l', '<f16'), ('v', '|V2'), ('z', '|u1')], 'fortran_order': False, 'shape': (2,), }"
	row := "\x07\x00\x00\x00" + strings.Repeat("e", 8) + "\x05" + strings.Repeat("m", 16) + "." + strings.Repeat("c", 8) + strings.Repeat("l", 16) + "vv" + "\xFF"
	file := npy(head, []byte(row+row))
	wants(t, NPY, file, Options{}, "a double: 7|7", "b double: 5|5", "z double: 255|255")
	_, table, err := taken(NPY, []byte(file), Options{})
	if err != nil {
		t.Fatalf("writing the fields that can be read: %v", err)
	}
	var left []string
	for _, l := range table.LeftOut {
		left = append(left, l.Name)
	}
	if strings.Join(left, " ") != "e m c l v" || !strings.Contains(table.LeftOut[0].Why, `"<M8[ns]" cannot be read`) {
		t.Errorf("left out: %v", table.LeftOut)
	}
	if want := []int{1, 2, 2, 2, 2}; !slices.Equal(table.Before, want) { // behind a, and behind a and b
		t.Errorf("so many columns stand before those left out: %v, want %v", table.Before, want)
	}
}

// Texts that are none of Unicode are refused with their place: made valid, different ones would be one.
func TestNPYTextsOfOtherEncodings(t *testing.T) {
	const head = "{'descr': [('n', '|i1'), ('s', '|S3'), ('u', '<U1')], 'fortran_order': False, 'shape': (2,), }"
	row := func(s, u string) string { return "\x01" + s + u }
	good := row("\xC3\xA9\x00", "\xE9\x00\x00\x00")
	wants(t, NPY, npy(head, []byte(good+good)), Options{}, "n double: 1|1", "s string: é|é", "u string: é|é")
	for _, x := range [][3]string{
		{"\xE9aa", "a\x00\x00\x00", "not UTF-8"}, {"aaa", "\x00\xD8\x00\x00", "not in Unicode"}, {"aaa", "\x00\x00\x11\x00", "not in Unicode"},
		{"aaa", "a\x00\x00\xFF", "not in Unicode"},
	} {
		_, _, err := taken(NPY, []byte(npy(head, []byte(good+row(x[0], x[1])))), Options{})
		column := map[bool]string{true: "s", false: "u"}[x[2] == "not UTF-8"]
		if d := (*stream.DataError)(nil); !errors.As(err, &d) || !strings.Contains(err.Error(), x[2]) || d.Row != 1 || d.Column != column || d.Remedy.Spell(nil) == "" {
			t.Errorf("%q: error %v, want %q for column %s in row 1", x, err, x[2], column)
		}
	}
}

// Arrays of more rows than a piece, in both orders, are the same.
func TestNPYOrders(t *testing.T) {
	const rows, cols = 70_000, 3
	c, f := make([]float32, rows*cols), make([]float32, rows*cols)
	for i := range rows {
		for j := range cols {
			c[i*cols+j], f[j*rows+i] = float32(i*j), float32(i*j)
		}
	}
	head := "{'descr': '<f4', 'fortran_order': %s, 'shape': (%d, %d), }"
	want, _, err := taken(NPY, []byte(npy(fmt.Sprintf(head, "False", rows, cols), c)), Options{})
	if err != nil {
		t.Fatalf("writing the array in C order: %v", err)
	}
	wants(t, NPY, npy(fmt.Sprintf(head, "True", rows, cols), f), Options{Memory: 48 << 20, Threads: 4}, want...)
}

func FuzzNPY(f *testing.F) {
	f.Add([]byte(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2), }", []int32{1, 2, 3, 4, -5, 6})))
	f.Add([]byte(npy("{'descr': [('a', '<i2'), ('b', '<f4', (2,))], 'fortran_order': False, 'shape': (1,), }", []byte("0123456789"))))
	f.Fuzz(func(_ *testing.T, data []byte) { survives(NPY, data) })
}

// survives takes in whatever it is in little memory: it must end, and not panic.
func survives(format Format, data []byte) {
	_, _, _ = taken(format, data, Options{Memory: 256 << 20, Threads: 2})
}

func FuzzNDJSON(f *testing.F) {
	f.Add([]byte("{\"a\":1,\"b\":{\"c\":[1,2]}}\n{\"a\":\"x\"}\n"))
	f.Fuzz(func(_ *testing.T, data []byte) { survives(NDJSON, data) })
}

// Names are written as by Python's repr: printable characters unchanged, and the rest escaped.
func TestNPYNamesAreEscapedAsByPython(t *testing.T) {
	head := `{'descr': [("b'é\n", '<i4'), ('α\t\\\'"', '<i4'), ('\x00\u202e\U000e0001', '<i4')], 'fortran_order': False, 'shape': (1,), }`
	text := npy(head, []int32{1, 2, 3})
	exact := Options{Exact: anyColumn}
	wants(t, NPY, text, exact, "b'é\n int64: 1", "α\t\\'\" int64: 2", "\x00\u202e\U000e0001 int64: 3")
	latin := strings.Replace(npy("{'descr': [('caf#', '<i4')], 'fortran_order': False, 'shape': (1,), }", []int32{4}), "#", "\xe9", 1)
	wants(t, NPY, latin, exact, "café int64: 4")
	for _, bad := range []string{`\q`, `\x0`, `\u12`, `\Uffffffff`, `\xgg`} {
		head := "{'descr': [('" + bad + "', '<i4')], 'fortran_order': False, 'shape': (1,), }"
		if _, err := parseNPY(head); err == nil || !strings.Contains(err.Error(), "escape") {
			t.Errorf("%s: error %v, want one about the escape", bad, err)
		}
	}
}

// TestUnreadArrays: for an array of a type that cannot be read, the advice makes one that can. The bytes of both come
// from numpy 1.24.2: of ['2024-01-01T00:00:00.5', NaT], [1.5 s, NaT], [1+2j, 3-4j], and b'ab', b'cd'; the second are
// the results of saving the advised expression. NaT is a missing value there, and not the smallest integer.
func TestUnreadArrays(t *testing.T) {
	bytesOf := func(s string) []byte { return must.Get(hex.DecodeString(s))(t) }
	for _, c := range []struct {
		typ, data    string
		advice       string
		saved, bytes string
		want         []string
	}{
		{"<M8[ns]", "0065321f1710a6170000000000000080", "(a - numpy.datetime64(0, 's')) / numpy.timedelta64(1, 's')",
			"'<f8', 'fortran_order': False, 'shape': (2,)", "000020208064d941000000000000f87f", []string{"x double: 1704067200.5|NaN"}},
		{"<m8[ms]", "dc050000000000000000000000000080", "a / numpy.timedelta64(1, 's')",
			"'<f8', 'fortran_order': False, 'shape': (2,)", "000000000000f83f000000000000f87f", []string{"x double: 1.5|NaN"}},
		{"<c16", "000000000000f03f0000000000000040000000000000084000000000000010c0", "numpy.column_stack([a.real, a.imag])",
			"'<f8', 'fortran_order': False, 'shape': (2, 2)", "000000000000f03f0000000000000040000000000000084000000000000010c0", []string{"x[0] double: 1|3", "x[1] double: 2|-4"}},
		{"|V2", "61626364", "a.view('uint8').reshape(len(a), -1)",
			"'|u1', 'fortran_order': False, 'shape': (2, 2)", "61626364", []string{"x[0] double: 97|99", "x[1] double: 98|100"}},
	} {
		_, _, err := taken(NPY, []byte(npy("{'descr': '"+c.typ+"', 'fortran_order': False, 'shape': (2,), }", bytesOf(c.data))), Options{})
		if err == nil || !strings.Contains(err.Error(), "of the array a, save ") || !strings.Contains(err.Error(), c.advice) {
			t.Errorf("%s: %v, want the advice %s", c.typ, err, c.advice)
		}
		wants(t, NPY, npy("{'descr': "+c.saved+", }", bytesOf(c.bytes)), Options{}, c.want...)
	}
	_, _, err := taken(NPY, []byte(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 2), }", []float64{0, 1, 2, 3})), Options{})
	if err == nil || !strings.Contains(err.Error(), "a.reshape(len(a), -1)") {
		t.Errorf("three dimensions: %v", err)
	}
}
