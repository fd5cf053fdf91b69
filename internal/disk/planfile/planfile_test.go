package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// planned is a plan of n files, with something in every field.
func planned(n int) (Header, []File) {
	h := Header{
		Version: "1", Method: "greedy", Options: map[string]string{"label": "y", "where": `a < 3 & b > "ž"`},
		Table: &stream.Table{Path: "/t", Format: "delta", Version: 3}, Since: new(int64), Keys: []string{"day"}, Count: n, Rows: int64(7 * n), Bytes: int64(9 * n),
		Footers: true, Weight: int64(5 * n), Warnings: []string{"skipped: x"},
		Catalog: &Catalog{
			Leaves:     []Leaf{{Name: "a\u2028<b>", Type: "double", Width: 1, Nulls: -1, MaybeNaN: true}, {Name: "l", Type: "list<float>", Why: "x", Refused: true, RefusedBy: "/a", List: true}},
			Partitions: []Partition{{Key: "day", Truth: true}}, Orders: [][]int32{{1, 0}}, Kinds: []Kind{{"day", "truth"}},
			First: "/a", OpenBytes: 5, Far: true,
		},
	}
	files := make([]File, n)
	for i := range files {
		files[i] = File{
			Path: fmt.Sprintf("/a&b/%04d", i), Bytes: 9, Version: `"e"`, Keys: []string{"true"}, Start: int64(7 * i),
			Footer: "00000000000000ff", Fingerprint: "01", Groups: [][2]int64{{3, 2}, {4, 3}}, Order: i % 2, Outcomes: "17",
		}
	}
	return h, files
}

func sequence(files []File) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for _, f := range files {
			if !yield(f, nil) {
				return
			}
		}
	}
}

func write(t testing.TB, h Header, files []File) (string, []byte) {
	t.Helper()
	var b bytes.Buffer
	id := must.Get(Write(&b, h, sequence(files)))(t)
	return id, b.Bytes()
}

// read is everything in a plan.
func read(b io.Reader) (Header, []File, error) {
	r, err := Open(b)
	if err != nil {
		return Header{}, nil, err
	}
	var files []File
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header, files, nil
		}
		if err != nil {
			return r.Header, files, err
		}
		files = append(files, f)
	}
}

// TestReadsWhatWasWritten: for any number of files, and in a second time around.
func TestReadsWhatWasWritten(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1000} {
		h, files := planned(n)
		id, b := write(t, h, files)
		if len(id) != 20 {
			t.Errorf("ID %q", id)
		}
		got, gotFiles, err := read(iotest{bytes.NewReader(b)})
		h.Schema, h.ID = Schema, id
		if err != nil || !reflect.DeepEqual(got, h) || !slices.EqualFunc(gotFiles, files, func(a, b File) bool { return reflect.DeepEqual(a, b) }) {
			t.Fatalf("%d files: %v\n%+v\nwant\n%+v", n, err, got, h)
		}
		again, c := write(t, got, gotFiles)
		if again != id || !bytes.Equal(b, c) {
			t.Errorf("%d files: written again it is another plan", n)
		}
		if lines := bytes.Count(b, []byte("\n")); lines != n+2 {
			t.Errorf("%d files on %d lines", n, lines)
		}
	}
}

// iotest reads three bytes at a time.
type iotest struct{ io.Reader }

func (r iotest) Read(b []byte) (int, error) { return r.Reader.Read(b[:min(len(b), 3)]) }

// TestEveryFieldIsInTheID: no field can change, in the header or of a file, and leave the ID.
func TestEveryFieldIsInTheID(t *testing.T) {
	h, files := planned(2)
	seen := map[string]string{}
	note := func(what string) {
		id, _ := write(t, h, files)
		if other, twice := seen[id]; twice {
			t.Errorf("%s has the ID of %s", what, other)
		}
		seen[id] = what
	}
	note("the plan")
	count := 0
	vary(reflect.ValueOf(&h).Elem(), "header", func(what string) {
		if what == "header.Schema" || what == "header.ID" || what == "header.Count" {
			return // plans that Write makes, or refuses for another reason
		}
		count++
		note(what)
	})
	vary(reflect.ValueOf(&files[1]).Elem(), "file", func(what string) { count++; note(what) })
	if count < 50 {
		t.Errorf("%d fields", count)
	}
	slices.Reverse(files)
	note("another order")
}

// vary changes every value below v in turn, and back again.
func vary(v reflect.Value, name string, changed func(what string)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			vary(v.Field(i), name+"."+v.Type().Field(i).Name, changed)
		}
	case reflect.Pointer:
		vary(v.Elem(), name, changed)
		was := v.Interface()
		v.SetZero()
		changed(name + " gone")
		v.Set(reflect.ValueOf(was))
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			vary(v.Index(i), fmt.Sprintf("%s[%d]", name, i), changed)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			was := v.MapIndex(k)
			v.SetMapIndex(k, reflect.ValueOf("other"))
			changed(fmt.Sprintf("%s[%v]", name, k))
			v.SetMapIndex(k, was)
		}
	default:
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		switch v.Kind() {
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		default:
			v.SetInt(v.Int() + 1)
		}
		changed(name)
		v.Set(was)
	}
}

// TestDamageShows: a plan that was cut, or of which a byte changed, is refused, or it is the
// same plan in other words.
func TestDamageShows(t *testing.T) {
	h, files := planned(2)
	id, whole := write(t, h, files)
	for at := range whole {
		if _, _, err := read(bytes.NewReader(whole[:at])); err == nil && strings.TrimSpace(string(whole[at:])) != "" {
			t.Fatalf("cut at %d of %d it is a plan", at, len(whole))
		}
		for _, mask := range []byte{1, 2, 4, 0x10, 0x20, 0x80, 0xff} {
			b := slices.Clone(whole)
			b[at] ^= mask
			got, gotFiles, err := read(bytes.NewReader(b))
			if err != nil {
				continue
			}
			if again, _ := write(t, got, gotFiles); again != id || got.ID != id {
				t.Fatalf("byte %d changed by %#x: another plan is read: %s", at, mask, b)
			}
		}
	}
	if _, _, err := read(strings.NewReader(string(whole) + "{}")); err == nil {
		t.Error("something behind the end was passed over")
	}
}

// TestRefusals: text that is no plan, or not one of this program, is refused with a helpful message.
func TestRefusals(t *testing.T) {
	h, files := planned(1)
	_, b := write(t, h, files)
	plan := string(b)
	for text, says := range map[string]string{
		"":             "cut off",
		"{":            "cut off",
		"[]":           "it is no plan",
		"{}":           "no files",
		`"x"`:          "it is no plan",
		"PAR1\x00":     "not JSON",
		`{"a":1}`:      "no files",
		`{"files":[]}`: "no schema",
		strings.Replace(plan, "plan/v1", "plan/v2", 1):                               "another version",
		strings.Replace(plan, `"version":"1"`, `"more":1,"version":"1"`, 1):          "unknown field",
		strings.Replace(plan, `"bytes":9,"version"`, `"x":1,"bytes":9,"version"`, 1): "unknown field",
		strings.Replace(plan, `"count":1`, `"count":2`, 1):                           "1 files, and its header says 2",
		strings.Replace(plan, `"rows":7`, `"rows":8`, 1):                             "changed after it was made",
		strings.Replace(plan, `"start":0`, `"start":1`, 1):                           "",
		strings.Replace(plan, `"path":"/a&b/0000"`, `"path":""`, 1):                  "no path",
		strings.Replace(plan, `"method"`, `"count":1,"method"`, 1):                   "twice",
		strings.Replace(plan, `"bytes":9,"weight"`, `"bytes":"9","weight"`, 1):       "",
	} {
		_, _, err := read(strings.NewReader(text))
		if text == plan {
			continue // nothing to replace
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: %v; want %q", text, err, says)
		}
	}
}

// TestWriteRefuses: Write refuses a plan that could not be read back.
func TestWriteRefuses(t *testing.T) {
	for what, spoil := range map[string]func(*Header, []File){
		"is no UTF-8":     func(_ *Header, f []File) { f[1].Path = "/\xff" },
		"no UTF-8":        func(_ *Header, f []File) { f[1].Keys = []string{"\xff"} },
		"UTF-8, so that":  func(h *Header, _ []File) { h.Catalog.Leaves[0].Name = "\xc3" },
		"rename it":       func(h *Header, _ []File) { h.Catalog.Partitions[0].Key = "\xc3" },
		"the header says": func(h *Header, _ []File) { h.Count++ },
	} {
		h, files := planned(2)
		spoil(&h, files)
		if _, err := Write(io.Discard, h, sequence(files)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v; want %q", err, what)
		}
	}
	h, _ := planned(1)
	broken := errors.New("broken")
	if _, err := Write(io.Discard, h, func(yield func(File, error) bool) { yield(File{}, broken) }); !errors.Is(err, broken) {
		t.Errorf("an error among the files: %v", err)
	}
	h, files := planned(1)
	if _, err := Write(fullDisk{}, h, sequence(files)); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a full disk: %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestOneFileAtATime: reading and writing hold a file, however many there are.
func TestOneFileAtATime(t *testing.T) {
	h, one := planned(1)
	h.Count = 200_000
	many := func(yield func(File, error) bool) {
		for range h.Count {
			if !yield(one[0], nil) {
				return
			}
		}
	}
	in, out := io.Pipe()
	go func() {
		_, err := Write(out, h, many)
		out.CloseWithError(err)
	}()
	r := must.Get(Open(in))(t)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for n := 0; ; n++ {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("reading the next file: %v", err)
		}
		if n%50_000 == 0 {
			runtime.GC()
			if runtime.ReadMemStats(&after); after.HeapAlloc > before.HeapAlloc+1<<20 {
				t.Fatalf("%d bytes more in memory after %d files", after.HeapAlloc-before.HeapAlloc, n)
			}
		}
	}
}

// FuzzRead: any text is read without a panic and in little memory, and an accepted plan is written again as it
// was read.
func FuzzRead(f *testing.F) {
	for _, n := range []int{0, 1, 3} {
		h, files := planned(n)
		_, b := write(f, h, files)
		f.Add(b)
	}
	f.Add([]byte(`{"schema":"ufs-stream/plan/v1","files":[{"path":"/a"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, files, err := read(bytes.NewReader(b))
		if err != nil {
			return
		}
		if id, _ := write(t, h, files); id != h.ID {
			t.Errorf("read as %s, written as %s", h.ID, id)
		}
	})
}

// BenchmarkRead is a shard's way through a plan of 100,000 files.
func BenchmarkRead(b *testing.B) {
	h, files := planned(100_000)
	_, plan := write(b, h, files)
	b.SetBytes(int64(len(plan)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := read(bytes.NewReader(plan)); err != nil {
			b.Fatalf("reading the plan: %v", err)
		}
	}
}
