package copying

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writing"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// numbered writes a Parquet file, or CSV, whose number of rows identifies the file: number + 1.
func numbered(t *testing.T, path string, number int) {
	t.Helper()
	x := make([]int64, number+1)
	text := "x,y\n"
	for i := range x {
		x[i] = int64(1000*number + i)
		text += fmt.Sprintf("%d,0\n", x[i])
	}
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	if filepath.Ext(path) == ".csv" {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		return
	}
	var file bytes.Buffer
	must.Do(t, writing.WriteTable(&file, len(x), writing.TableColumn{Name: "x", Values: x}, writing.TableColumn{Name: "y", Values: make([]int64, len(x))}))
	must.Do(t, os.WriteFile(path, file.Bytes(), 0o600))
}

// digests are the digests of all files below a folder, by path, and the targets of links and the marks of folders.
func digests(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must.Do(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Type().IsRegular():
			all[path] = fmt.Sprintf("%x", sha256.Sum256(must.Get(os.ReadFile(path))(t)))
		case e.IsDir():
			all[path] = "a folder"
		default:
			all[path] = "a link to " + must.Get(os.Readlink(path))(t)
		}
		return nil
	}))
	return all
}

// numbersIn are the numbers of the files in an output, sorted; each must have its rows.
func numbersIn(t *testing.T, out string) (numbers []int) {
	t.Helper()
	own := filepath.Join(t.TempDir(), "own.parquet")
	for path, digest := range digests(t, out) {
		if digest == "a folder" {
			continue
		}
		got := formattest.ReadDump(t, path).FindLeaf("x").RowTexts()
		number := len(got) - 1
		numbered(t, own, number)
		if want := formattest.ReadDump(t, own).FindLeaf("x").RowTexts(); !slices.Equal(got, want) {
			t.Errorf("%s has rows %q, want %q", path, got, want)
		}
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	return numbers
}

// forest is a random tree of files, links to files and links to folders.
type forest struct {
	root    string
	files   []string // from the root of the file system
	folders []string
	number  map[string]int // of a file
	links   [][2]string    // to folders, and these
}

func newForest(t *testing.T, random *rand.Rand) *forest {
	t.Helper()
	f := &forest{root: must.Get(filepath.EvalSymlinks(t.TempDir()))(t), number: map[string]int{}}
	f.folders = []string{f.root}
	for range 2 + random.IntN(4) {
		folder := filepath.Join(f.folders[random.IntN(len(f.folders))], []string{"a", "b", "w", "_h", "a.b"}[random.IntN(5)])
		if !slices.Contains(f.folders, folder) {
			must.Do(t, os.Mkdir(folder, 0o700))
			f.folders = append(f.folders, folder)
		}
	}
	for range 2 + random.IntN(5) {
		path := filepath.Join(f.folders[random.IntN(len(f.folders))], []string{"x.parquet", "y.parquet", "z.parquet", "u.csv"}[random.IntN(4)])
		if _, there := f.number[path]; !there {
			f.number[path] = len(f.files)
			numbered(t, path, len(f.files))
			f.files = append(f.files, path)
		}
	}
	if link := filepath.Join(f.folders[random.IntN(len(f.folders))], "link"); random.IntN(2) == 0 {
		to := f.folders[random.IntN(len(f.folders))]
		must.Do(t, os.Symlink(to, link))
		f.links = append(f.links, [2]string{link, to})
	}
	if link := filepath.Join(f.folders[random.IntN(len(f.folders))], "l.parquet"); random.IntN(3) == 0 {
		to := f.files[random.IntN(len(f.files))]
		must.Do(t, os.Symlink(to, link))
		f.number[link] = f.number[to]
	}
	return f
}

// called is one of the names that lead to path from the working directory.
func (f *forest) called(t *testing.T, random *rand.Rand, here, path string) string {
	rel := must.Get(filepath.Rel(here, path))(t)
	detour := must.Get(filepath.Rel(here, f.folders[random.IntN(len(f.folders))]))(t)
	back := must.Get(filepath.Rel(filepath.Join(here, detour), path))(t)
	if len(f.links) > 0 && random.IntN(3) == 0 {
		detour, back = must.Get(filepath.Rel(here, f.links[0][0]))(t), must.Get(filepath.Rel(f.links[0][1], path))(t)
	}
	return []string{rel, "./" + rel, path, "file://" + path, detour + "/" + back, f.root + "/./" + must.Get(filepath.Rel(f.root, path))(t)}[random.IntN(6)]
}

// inputs chooses files and folders, some of them by way of a list.
func (f *forest) inputs(t *testing.T, random *rand.Rand, here string) (args []string) {
	var named []string
	for _, i := range random.Perm(len(f.files))[:1+random.IntN(len(f.files))] {
		path := f.files[i]
		if random.IntN(6) == 0 {
			path = filepath.Dir(path)
		}
		named = append(named, f.called(t, random, here, path))
	}
	if random.IntN(3) == 0 {
		list := filepath.Join(f.root, "list")
		must.Do(t, os.WriteFile(list, []byte(strings.Join(named[1:], "\n")+"\n# no more\n"), 0o600))
		if args = named[:1]; len(named) > 1 {
			args = append(args, "@"+f.called(t, random, here, list))
		}
	} else {
		args = named
	}
	return args
}

// TestOutputLaws: whatever the tree, the order of the inputs and their names, no input changes, nothing is written
// outside the output, and the output has a file with its rows for each input, at a place that does not depend on
// order and spelling.
func TestOutputLaws(t *testing.T) {
	done, folders := 0, 0
	trees := long.CountCases(40, 120)
	for seed := range uint64(trees) {
		random := rand.New(rand.NewPCG(seed, 1))
		f := newForest(t, random)
		here := f.folders[random.IntN(len(f.folders))]
		t.Chdir(here)
		args := f.inputs(t, random, here)
		target := filepath.Join(f.folders[random.IntN(len(f.folders))], []string{"out", "_out", "_o/out", "out.parquet"}[random.IntN(4)])
		must.Do(t, os.MkdirAll(filepath.Dir(target), 0o700))
		out := f.called(t, random, here, target)
		before := digests(t, f.root)
		a := opening.NewAccess(settings.WithDefaults(settings.Options{}))
		list, listing := listing.ExpandInputs(t.Context(), a, args)
		var report ApplyReport
		var err error
		if seed%2 == 0 {
			report, err = ConvertInputs(t.Context(), args, out, ApplyOptions{})
		} else {
			report, err = ApplyColumns(t.Context(), args, out, ApplyOptions{Columns: []string{"x"}})
		}
		what := fmt.Sprintf("seed %d: %q to %s in %s", seed, args, out, here)
		after := digests(t, f.root)
		for path, digest := range before {
			if after[path] != digest {
				t.Fatalf("%s: %s was %s, and is %q", what, path, digest, after[path])
			}
			delete(after, path)
		}
		for path := range after {
			if rel, err := filepath.Rel(target, path); err != nil || rel != "." && !filepath.IsLocal(rel) {
				t.Fatalf("%s: %s was written", what, path)
			}
		}
		if err != nil {
			if !chunkiotest.IsUsage(err) && !errors.As(err, new(*stream.DataError)) || len(after) > 0 {
				t.Fatalf("%s: %v, and %d files", what, err, len(after))
			}
			continue
		}
		must.Do(t, listing)
		done++
		var want []int
		for _, path := range list.Paths() {
			want = append(want, f.number[must.Get(filepath.EvalSymlinks(must.Get(filepath.Abs(path))(t)))(t)])
		}
		slices.Sort(want)
		rows := int64(0)
		for _, n := range want {
			rows += int64(n + 1)
		}
		info := must.Get(os.Stat(target))(t)
		if report.Rows != rows || info.IsDir() && report.Files != len(want) {
			t.Fatalf("%s: %+v, want %d files of %d rows", what, report, len(want), rows)
		}
		if !info.IsDir() {
			continue
		}
		folders++
		if got := numbersIn(t, target); !slices.Equal(got, want) {
			t.Fatalf("%s: the files %v, want %v", what, got, want)
		}
		sameElsewhere(t, random, what, list.Paths(), args, target)
	}
	if done < trees*5/12 || folders < trees/4 {
		t.Errorf("%d trees were written, %d of them as folders", done, folders)
	}
}

// sameElsewhere checks that the layout is that of the same inputs in another order, and called by their paths from
// the root.
func sameElsewhere(t *testing.T, random *rand.Rand, what string, paths, args []string, out string) {
	t.Helper()
	a := opening.NewAccess(settings.WithDefaults(settings.Options{}))
	roots := must.Get(findInputFolders(t.Context(), a, args, paths))(t)
	first := must.Get(chooseFolderLayout(out, roots, paths, FormParquet))(t)
	full := make([]string, len(paths))
	for i, p := range paths {
		full[i] = must.Get(place.AbsolutePath(p))(t)
	}
	random.Shuffle(len(full), func(i, j int) { full[i], full[j] = full[j], full[i] })
	random.Shuffle(len(roots), func(i, j int) { roots[i], roots[j] = roots[j], roots[i] })
	second := must.Get(chooseFolderLayout(out, roots, full, FormParquet))(t)
	for _, p := range paths {
		if got, want := second.place[must.Get(place.AbsolutePath(p))(t)], first.place[p]; got != want {
			t.Errorf("%s: %s is at %s, and in another order at %s", what, p, want, got)
		}
	}
}

// TestLayoutOfFiles: local files keep their places below the folder that was given, or below the innermost one that
// they are all in, however they are called.
func TestLayoutOfFiles(t *testing.T) {
	chunkiotest.WriteTree(t, "p/a/x.parquet", "p/a/y.csv.gz", "p/w/b/y.parquet", "p/w/x.parquet", "p/w/_h/x.parquet", "p/w/b/q\\r.parquet", "d/x.parquet")
	top := must.Get(os.Getwd())(t)
	t.Chdir("p/w")
	for _, c := range []struct{ inputs, paths, want string }{
		{"../a/x.parquet b/y.parquet", "", "a/x.parquet w/b/y.parquet"},
		{"b/y.parquet ../a/x.parquet", "", "w/b/y.parquet a/x.parquet"},
		{"b/y.parquet x.parquet", "", "b/y.parquet x.parquet"},
		{"./b/y.parquet ../w/x.parquet", "", "b/y.parquet x.parquet"},
		{"b/../b/y.parquet ./x.parquet", "", "b/y.parquet x.parquet"},
		{"../../p/a/x.parquet ../../d/x.parquet", "", "p/a/x.parquet d/x.parquet"},
		{top + "/p/a/x.parquet b/y.parquet", "", "a/x.parquet w/b/y.parquet"},
		{"file://" + top + "/p/w/x.parquet b/y.parquet", "", "x.parquet b/y.parquet"},
		{"..", "../a/x.parquet ../a/y.csv.gz ../w/b/y.parquet", "a/x.parquet a/y.parquet w/b/y.parquet"},
		{".", "b/y.parquet x.parquet", "b/y.parquet x.parquet"},
		{". _h", "b/y.parquet x.parquet _h/x.parquet", "would both become"},
		{"_h . ", "_h/x.parquet b/y.parquet", "x.parquet b/y.parquet"},
		{". _h", "b/y.parquet _h/x.parquet", "b/y.parquet x.parquet"},
		{"b ../a/x.parquet", "b/y.parquet ../a/x.parquet", "y.parquet x.parquet"},
		{"../a ../../d", "../a/x.parquet ../../d/x.parquet", "would both become"},
		{"x.parquet s3://b/d/1.parquet", "", "x.parquet s3/b/d/1.parquet"},
		{"b/y.parquet ../a/x.parquet s3://b/d/1.parquet", "", "w/b/y.parquet a/x.parquet s3/b/d/1.parquet"},
		{"gs://b/d/1.parquet s3://b/d/1.parquet", "", "gs/b/d/1.parquet s3/b/d/1.parquet"},
		{"x.parquet b/q\\r.parquet", "", "apply it by itself"},
		{`s3://b/d/ `, `s3://b/d/a\..\..\x.parquet`, "apply it by itself"},
		{"s3://b/d/", "s3://b/d/a\x00.parquet", "apply it by itself"},
		{"s3://b/d/", "s3://b/d//x.parquet s3://b/d///y/.parquet", "x.parquet y/.parquet"},
		{"s3://b/d/", "s3://b/d/c:x.parquet", "c:x.parquet"},
		{"s3://b/d/", "s3://b/d/a/./x.parquet", "apply it by itself"},
	} {
		inputs := strings.Split(strings.TrimSpace(c.inputs), " ")
		paths := inputs
		if c.paths != "" {
			paths = strings.Split(c.paths, " ")
		}
		l, err := chooseLayout(t.Context(), opening.NewAccess(settings.Options{}), inputs, listedAs(paths), "../out", FormParquet)
		var got []string
		for _, p := range paths {
			got = append(got, l.place[p])
		}
		text := strings.Join(got, " ")
		if err != nil {
			text = err.Error()
		}
		if text != c.want && (err == nil || !strings.Contains(text, c.want)) {
			t.Errorf("%s: %s; want %s", c.inputs, text, c.want)
		}
	}
}

// listedAs is a list of paths in any order.
func listedAs(paths []string) *listing.List {
	return listing.NewLocalList(slices.Sorted(slices.Values(paths)))
}

// FuzzLayout lays out any files below any folders: the result is one name below a folder for each file, whatever the
// order.
func FuzzLayout(f *testing.F) {
	f.Add("", "../a/x.parquet\nb/y.parquet")
	f.Add("/data\n/data/_h", "/data/x.csv\n/data/_h/x.parquet")
	f.Add("s3://b/d", "s3://b/d/../../etc/passwd\ns3://b/d/2.parquet\na/b")
	f.Add("s3://b/", "s3://b/a\\..\\..\\x\ns3://b//x.parquet\ns3://b/c:/y\ns3://b/NUL.parquet\nhttps://h/a%2e%2e/%5c..%5cx")
	f.Add(".", "a/./b/../c.csv.gz\n...\n.. /x\na/ /b.\nfile:///x/../y")
	f.Add("/", "/\n//\n/.\nazblob://c/\ngs://b/\x00")
	f.Fuzz(func(t *testing.T, folders, files string) {
		var roots []string
		for _, folder := range strings.Split(folders, "\n") {
			if root, err := treePath(folder); err == nil && folder != "" {
				roots = append(roots, root)
			}
		}
		paths := slices.Compact(slices.Sorted(slices.Values(strings.Split(files, "\n"))))
		l, err := chooseFolderLayout("s3://b/out", roots, paths, FormParquet)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, p := range paths {
			rel := l.place[p]
			at, err := store.Parse(place.JoinBelow("s3://b/out", rel))
			if place.CheckName(rel) != nil || !filepath.IsLocal(rel) || strings.Contains(rel, `\`) || seen[rel] || err != nil || at.Key != "out/"+rel {
				t.Errorf("%q is at %q of %q, which is %v in a store", p, rel, slices.Sorted(maps.Values(l.place)), at)
			}
			seen[rel] = true
		}
		slices.Reverse(paths)
		slices.Reverse(roots)
		if other, err := chooseFolderLayout("s3://b/out", roots, paths, FormParquet); err != nil || !maps.Equal(other.place, l.place) {
			t.Errorf("in another order %q, %v; want %q", other.place, err, l.place)
		}
	})
}

// TestFolderToOneFile: a folder becomes one file if OUT's ending names a format, with its keys as columns, and with
// the same table as the folder; an existing folder at OUT, or a slash at the end, keeps the layout.
func TestFolderToOneFile(t *testing.T) {
	in, dir := t.TempDir(), t.TempDir()
	numbered(t, filepath.Join(in, "day=1", "a.parquet"), 2)
	numbered(t, filepath.Join(in, "day=2", "b.csv"), 4)
	for _, ending := range []string{".parquet", ".pq", ".parq", ".arrow", ".csv"} {
		for name, run := range map[string]func(out string) (ApplyReport, error){
			"apply": func(out string) (ApplyReport, error) {
				return ApplyColumns(t.Context(), []string{in}, out, ApplyOptions{Columns: []string{"x", "day"}, Form: must.Get(OutputForm(out, ""))(t)})
			},
			"convert": func(out string) (ApplyReport, error) {
				return ConvertInputs(t.Context(), []string{in}, out, ApplyOptions{})
			},
		} {
			if name == "convert" && (ending == ".arrow" || ending == ".csv") {
				continue
			}
			out := filepath.Join(dir, name+ending)
			must.Get(run(out))(t)
			info := must.Get(os.Stat(out))(t)
			ds := must.Get(dataset.OpenInputs(t.Context(), []string{out}, settings.Options{}))(t)
			columns := slices.Sorted(maps.Keys(namesOf(ds)))
			if info.IsDir() || ds.Rows() != 8 || !slices.Contains(columns, "day") || !slices.Contains(columns, "x") {
				t.Errorf("%s: a folder: %t, %d rows of %q, want a file of 8 with day and x", out, info.IsDir(), ds.Rows(), columns)
			}
			ds.Close()
		}
	}
	stands, slash := filepath.Join(dir, "stands.parquet"), filepath.Join(dir, "new.parquet")+"/"
	must.Do(t, os.Mkdir(stands, 0o700))
	for _, out := range []string{stands, slash} {
		must.Get(ApplyColumns(t.Context(), []string{in}, out, ApplyOptions{Columns: []string{"x", "y"}}))(t)
		if numbers := numbersIn(t, out); !slices.Equal(numbers, []int{2, 4}) {
			t.Errorf("%s has the files %v, want 2 and 4", out, numbers)
		}
	}
}

// namesOf are the names of the features and keys of a dataset.
func namesOf(ds *dataset.Dataset) map[string]bool {
	names := make(map[string]bool)
	for _, c := range ds.Columns() {
		names[c.Name] = true
	}
	for _, l := range ds.LeftOut() {
		names[l.Name] = true
	}
	return names
}

// TestLayoutOfObjects: files keep the parts of their keys below the prefix that was given,
// and no key leads out of the output.
func TestLayoutOfObjects(t *testing.T) {
	const q = "?region=r"
	for _, c := range []struct{ inputs, paths, out, want string }{
		{"s3://b/d/", "s3://b/d/1.parquet s3://b/d/x/2.parquet", "out", "1.parquet x/2.parquet"},
		{"s3://b/d" + q, "s3://b/d/1.parquet" + q + " s3://b/d/k=v/2.arrow" + q, "s3://c/out", "1.parquet k=v/2.parquet"},
		{"s3://b", "s3://b/1.parquet s3://b/d/2.parquet", "out", "1.parquet d/2.parquet"},
		{"s3://b/d/1.parquet" + q, "s3://b/d/1.parquet" + q, "s3://c/out" + q, "one"},
		{"s3://b/d/1.parquet s3://b/d/2.parquet", "s3://b/d/1.parquet s3://b/d/2.parquet", "s3://c/out.parquet" + q, "one"},
		{"s3://b/*/1.parquet", "s3://b/d/1.parquet s3://b/e/1.parquet", "s3://c/out", "d/1.parquet e/1.parquet"},
		{"s3://b/d/1.parquet s3://c/d/1.parquet", "s3://b/d/1.parquet s3://c/d/1.parquet", "out", "b/d/1.parquet c/d/1.parquet"},
		{"s3://b/d s3://c/e/", "s3://b/d/1.parquet s3://c/e/2.parquet", "out", "1.parquet 2.parquet"},
		{"s3://b/d s3://c/e/", "s3://b/d/1.parquet s3://c/e/1.parquet", "out", "would both become"},
		{"s3://b/d", "s3://b/d/a//1.parquet s3://b/d/a/1.parquet", "out", "would both become"},
		{"s3://b/d", "s3://b/d/../../etc/1.parquet s3://b/d/2.parquet", "out", "no place below a folder"},
		{"s3://b/d", "s3://b/d/1.parquet s3://b/d/2.parquet", "s3://b/d/2.parquet", "would replace the input"},
	} {
		paths := strings.Fields(c.paths)
		l, err := chooseLayout(t.Context(), opening.NewAccess(settings.Options{}), strings.Fields(c.inputs), listing.NewLocalList(paths), c.out, FormParquet)
		var got []string
		for _, p := range paths {
			got = append(got, filepath.ToSlash(l.place[p]))
		}
		text := strings.Join(got, " ")
		switch {
		case err != nil:
			text = err.Error()
		case l.single:
			text = "one"
		}
		if text != c.want && (err == nil || !strings.Contains(text, c.want)) {
			t.Errorf("%s to %s: %s; want %s", c.inputs, c.out, text, c.want)
		}
	}
}
