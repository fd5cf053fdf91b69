package chunkio

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// mixedFolder is a folder with data under names of all kinds and with files that are no data, by the paths below it.
// Every file of data has 100 rows; x is the number of the file in its rows, from 1 on, so that 12 files of them have
// the mean 6.5.
func mixedFolder(t *testing.T) (files map[string][]byte, data, guessed, passed []string) {
	t.Helper()
	dir := t.TempDir()
	text := func(number int, separator string) string {
		var b strings.Builder
		b.WriteString("x" + separator + "y\n")
		for i := range 100 {
			fmt.Fprintf(&b, "%d%s%d\n", number, separator, i)
		}
		return b.String()
	}
	files = map[string][]byte{}
	add := func(names *[]string, name string, content []byte) {
		files[name] = content
		*names = append(*names, name)
	}
	columnar := func(number int, ending string) []byte {
		csv, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out"+ending)
		formattest.Must(t, os.WriteFile(csv, []byte(text(number, ",")), 0o600))
		form := must.Get(OutputForm(out, ""))(t)
		must.Get(Apply(t.Context(), []string{csv}, out, ApplyOptions{Columns: []string{"x", "y"}, Form: form}))(t)
		return must.Get(os.ReadFile(out))(t)
	}
	for i, name := range []string{"000000_0", "part-00001", "c.pq", "d.parq", "df.parquet.gzip", "k=1/h.parquet.snappy", "l.PARQUET"} {
		add(&data, name, columnar(i+1, ".parquet"))
	}
	add(&data, "m.bin", columnar(8, ".arrow"))
	add(&data, "n.tab", []byte(text(9, "\t")))
	for i, name := range []string{"a.txt", "k=1/b.data", "c"} {
		add(&data, name, []byte(text(10+i, ",")))
		guessed = append(guessed, name)
	}
	add(&passed, "README.txt", []byte("Made in 2020, by hand.\nWith love.\n"))
	add(&passed, "k=1/LICENSE", []byte("MIT License\n\nCopyright (c) 2020, me\n"))
	add(&passed, "c.crc", []byte("crc\x00\x00\x00\x02\x00"))
	add(&passed, "sel.json", []byte("{\n  \"schema\": \"ufs-stream/selection/v1\"\n}\n"))
	add(&passed, "done", nil)
	add(&passed, "part-00002.csv", nil)
	for _, hidden := range []string{"_SUCCESS", ".part.crc", "_tmp/a.parquet", ".x/b.csv"} {
		files[hidden] = []byte("x,y\n1,2\n")
	}
	slices.Sort(data)
	return files, data, guessed, passed
}

// wantFindings compares the files of a folder, and the warnings about them, with the expected ones.
func wantFindings(t *testing.T, where string, paths []string, warnings []stream.Text, data, guessed, passed []string) {
	t.Helper()
	for i, p := range paths {
		p, _, _ = strings.Cut(p, "?")
		paths[i] = strings.TrimPrefix(p[strings.Index(p, "/in/")+1:], "in/")
	}
	if !slices.Equal(paths, data) {
		t.Errorf("%s: the files are\n%q, want\n%q", where, paths, data)
	}
	if len(warnings) != 2 {
		t.Fatalf("%s: %d warnings %v, want 2", where, len(warnings), warnings)
	}
	for i, c := range []struct {
		begins string
		names  []string
	}{{fmt.Sprintf("passed over %d files: ", len(passed)), passed}, {fmt.Sprintf("taken for data by their lines, not by their names: %d files: ", len(guessed)), guessed}} {
		said := warnings[i].String()
		for _, name := range c.names {
			if !strings.HasPrefix(said, c.begins) || !strings.Contains(said, name) {
				t.Errorf("%s: %q, want %q with %s", where, said, c.begins, name)
			}
		}
	}
}

// TestFolderByBytes: the files of a folder are recognized by their bytes like single files, on disk and in a store,
// and files passed over are counted and named. A file of each kind is in the folder k=1, which no rule leaves out.
// The mean of x is the mean of 1 to 12, whatever the order of the files.
func TestFolderByBytes(t *testing.T) {
	files, data, guessed, passed := mixedFolder(t)
	files["in/"] = nil
	s := storetest.S3(t)
	t.Chdir(t.TempDir())
	for name, content := range files {
		if name == "in/" {
			continue
		}
		formattest.Must(t, os.MkdirAll(filepath.Dir("at/in/"+name), 0o700))
		formattest.Must(t, os.WriteFile("at/in/"+name, content, 0o600))
		s.PutObject("in/"+name, content)
	}
	for _, where := range []string{"at/in", "at/i*", s.URL("in/"), s.URL("in"), s.URL("i*")} {
		a := opening.NewAccess(settings.WithDefaults(Options{}))
		list := must.Get(listing.ExpandInputs(t.Context(), a, []string{where}))(t)
		wantFindings(t, where, list.Paths(), list.Warnings, data, guessed, passed)
	}
	// Partition keys stand in one folder only here, so that the sum takes the files one by one.
	for _, where := range []string{"at/in", s.URL("in/")} {
		list := must.Get(listing.ExpandInputs(t.Context(), opening.NewAccess(settings.WithDefaults(Options{})), []string{where}))(t)
		sum, rows := 0.0, int64(0)
		for _, path := range list.Paths() {
			ds := must.Get(Open(t.Context(), []string{path}, Options{}))(t)
			for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
				formattest.Must(t, err)
				for _, x := range c.Col(0) {
					sum += x
				}
				rows += int64(c.Rows)
			}
			formattest.Must(t, ds.Close())
		}
		if mean := sum / float64(rows); rows != 1200 || mean != 6.5 {
			t.Errorf("%s: %d rows with the mean %v, want 1200 with 6.5", where, rows, mean)
		}
	}
}

// TestStoreLooksAreBounded: if the first objects with an ending are no data, no more of them are read, and each other
// object is read at most once, apart from its footer.
func TestStoreLooksAreBounded(t *testing.T) {
	s := storetest.S3(t)
	const images, parts = 300, 100
	for i := range images {
		s.PutObject(fmt.Sprintf("in/%05d.jpg", i), []byte("\xFF\xD8\xFF\xE0 JFIF"))
	}
	for i := range parts {
		s.PutObject(fmt.Sprintf("in/part-%05d", i), []byte("x,y\n1,2\n3,4\n"))
		s.PutObject(fmt.Sprintf("in/z-%05d.csv", i), []byte("x,y\n1,2\n3,4\n"))
	}
	meter := new(stream.Meter)
	a := opening.NewAccess(settings.WithDefaults(Options{Meter: meter}))
	list := must.Get(listing.ExpandInputs(t.Context(), a, []string{s.URL("in/")}))(t)
	if list.Count != 2*parts {
		t.Errorf("%d files, want %d", list.Count, 2*parts)
	}
	said := fmt.Sprint(list.Warnings)
	if !strings.Contains(said, "passed over 300 files") || !strings.Contains(said, "236 of them unread") {
		t.Errorf("the warnings are %s", said)
	}
	const looks = 64 // of a folder at most
	if n, most := meter.Requests.Load(), int64(looks+parts+2); n > most {
		t.Errorf("%d requests, want %d at most: %d for the images, %d for the parts, and the listing", n, most, looks, parts)
	}
}

// TestFolderWithoutData: the error names the files there.
func TestFolderWithoutData(t *testing.T) {
	chunkiotest.WriteTree(t, "in/README", "in/_x.csv", "link/none -> ../in")
	s := storetest.S3(t)
	s.PutObject("in/README", []byte("x"))
	for where, says := range map[string]string{"in": "passed over 1 file: in/README", s.URL("in"): "passed over 1 file: s3://lake/in/README", "link": "link/none (a link to a folder)"} {
		if _, err := listing.ExpandInputs(t.Context(), opening.NewAccess(settings.WithDefaults(Options{})), []string{where}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want an error with %q", where, err, says)
		}
	}
}

// TestPlanCarriesFindings: warnings about files passed over are in the plan file, and a text whose name shows no
// format is read by the plan.
func TestPlanCarriesFindings(t *testing.T) {
	t.Chdir(t.TempDir())
	formattest.Must(t, os.Mkdir("in", 0o700))
	for name, text := range map[string]string{"a.csv": "x,y\n1,2\n3,5\n", "b": "x,y\n4,6\n5,8\n", "README": "Hello, you\n"} {
		formattest.Must(t, os.WriteFile(filepath.Join("in", name), []byte(text), 0o600))
	}
	ds := must.Get(Open(t.Context(), []string{"in"}, Options{ForPlan: true}))(t)
	defer ds.Close()
	h := must.Get(ds.WritePlan(t.Context(), "j.plan.json", PlanHeader{}))(t)
	if said := strings.Join(h.Warnings, "\n"); !strings.Contains(said, "passed over 1 file: in/README") || !strings.Contains(said, "1 file: in/b;") {
		t.Errorf("the plan warns of %q", said)
	}
	if plan := must.Get(os.ReadFile("j.plan.json"))(t); bytes.Count(plan, []byte(`"whole":true`)) != 1 {
		t.Errorf("the plan does not know that b is read to its end: %s", plan)
	}
	planned := must.Get(Open(t.Context(), nil, Options{Plan: "j.plan.json"}))(t)
	defer planned.Close()
	if n := planned.Rows(); n != 4 {
		t.Errorf("%d rows by the plan, want 4", n)
	}
}

// TestTablesBesideData: a text that is a table, but none of the data, is passed over with a warning, whether it
// stands before or after them; a text that differs from the data in one column is an error, like any file, and so are
// two texts of different columns without other data. A condition binds to the data.
func TestTablesBesideData(t *testing.T) {
	const data, more = "x,y,z\n1,2,3\n4,5,6\n", "x,y,z\n7,8,9\n"
	const all = "[x y z] [[1 2 3] [4 5 6] [7 8 9]]"
	for _, c := range []struct {
		files  map[string]string
		opt    Options
		want   string // of columns and rows; empty for an error
		passed string
	}{
		{map[string]string{"classes.txt": "id,name\n0,cat\n1,dog\n", "k.csv": data, "m.csv": more}, Options{}, all, "in/classes.txt"},
		{map[string]string{"a.csv": data, "classes.txt": "id,name\n0,cat\n1,dog\n", "m.csv": more}, Options{}, all, "in/classes.txt"},
		{map[string]string{"a.csv": data, "m.csv": more, "z": "0,1\n1,2\n"}, Options{}, all, "in/z"},
		{map[string]string{"a": "id,n\n0,1\n", "b": "id,n\n0,1\n", "k.csv": data, "m.csv": more}, Options{}, all, "in/b"},
		{map[string]string{"a": "id,n\n0,1\n", "k.csv": data, "m": more}, Options{}, all, "in/a"},
		{map[string]string{"a": "id,n\n0,1\n", "k.csv": data, "m": more}, Options{Where: "z > 3"}, "[x y z] [[4 5 6] [7 8 9]]", "in/a"},
		{map[string]string{"a": "id,n\n0,1\n", "k.csv": data, "m": more}, Options{Union: true, Where: "z > 3"}, "[x y z] [[4 5 6] [7 8 9]]", "in/a"},
		{map[string]string{"a": "id,n\n0,1\n", "g=1/k.csv": data, "g=1/m.csv": more}, Options{}, all, "in/a"},
		{map[string]string{"a": data, "m": more}, Options{}, all, ""},
		{map[string]string{"a.csv": "x,y,z\n", "b": data, "m.csv": more}, Options{}, all, ""},
		{map[string]string{"a.csv": data, "m": "x,y\n7,8\n"}, Options{}, "", ""},
		{map[string]string{"a": "x,y\n7,8\n", "m.csv": data}, Options{}, "", ""},
		{map[string]string{"a": "id,n\n0,1\n", "m": data}, Options{}, "", ""},
		{map[string]string{"a": "id,n\n0,1\n", "m.csv": data}, Options{Where: "none > 3"}, "", ""},
	} {
		t.Chdir(t.TempDir())
		for name, text := range c.files {
			formattest.Must(t, os.MkdirAll(filepath.Dir("in/"+name), 0o700))
			formattest.Must(t, os.WriteFile("in/"+name, []byte(text), 0o600))
		}
		ds, err := Open(t.Context(), []string{"in"}, c.opt)
		if c.want == "" {
			if err == nil {
				t.Errorf("%q, %q: no error", c.files, c.opt.Where)
				formattest.Must(t, ds.Close())
			}
			continue
		}
		formattest.Must(t, err)
		if got := fmt.Sprint(ColumnNames(ds), must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t).Rows); got != c.want {
			t.Errorf("%q, %q: got %s, want %s", c.files, c.opt.Where, got, c.want)
		}
		if said := fmt.Sprint(ds.FileWarnings()); strings.Contains(said, "passed over") != (c.passed != "") || !strings.Contains(said, c.passed) {
			t.Errorf("%q: the warnings are %s, want %q passed over", c.files, said, c.passed)
		}
		formattest.Must(t, ds.Close())
	}
}
