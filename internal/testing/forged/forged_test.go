package forged_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/forged"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// rows is a table of six features and a label, the last of them with gaps.
func rows(t testing.TB, dir string) string {
	t.Helper()
	lines := []string{"a,b,c,d,e,f,class"}
	for i := range 64 {
		x := float64(i%4) + math.Sin(float64(i*i))/9
		last := fmt.Sprint(math.Cos(float64(5 * i)))
		if i%9 == 4 {
			last = ""
		}
		lines = append(lines, fmt.Sprintf("%v,%v,%v,%v,%v,%s,%d", x, x*x-math.Sin(float64(3*i)), math.Cos(float64(i)), i%3, 2*x, last, i%4))
	}
	path := filepath.Join(dir, "rows.csv")
	must.Do(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

// kind is a sound file, with the methods for its variants.
type kind struct {
	name    string
	scan    ufs.ScanRequest
	methods []string
}

func kinds() []kind {
	mean := ufs.Request{Columns: ufs.Columns{Missing: "mean", Label: "class"}}
	of := func(change func(*ufs.ScanRequest)) ufs.ScanRequest {
		q := ufs.ScanRequest{Request: mean}
		q.Choice.Options = method.Settings{}
		change(&q)
		return q
	}
	graph := func(q *ufs.ScanRequest) {
		q.Choice.Method, q.Choice.Options = "sfufs", method.Settings{"anchors": 8, "neighbors": 3}
	}
	return []kind{
		{"gram", of(func(q *ufs.ScanRequest) {}), []string{"greedy", "fsfs", "fspca", "spcafs", "cdlfs", "variance", "random"}},
		{"ranks", of(func(q *ufs.ScanRequest) { q.Choice.Scale = "rank" }), []string{"greedy", "variance"}},
		{"pairwise", of(func(q *ufs.ScanRequest) { q.Columns.Missing = "pairwise" }), []string{"greedy"}},
		{"hashed", of(func(q *ufs.ScanRequest) { q.Choice.Stability = 8 }), []string{"greedy"}},
		{"graph", of(graph), []string{"sfufs", "laplacian", "graphgreedy", "greedy"}},
		{"hashed graph", of(func(q *ufs.ScanRequest) { graph(q); q.Choice.Stability = 8 }), []string{"sfufs"}},
		{"sketch", of(func(q *ufs.ScanRequest) { q.Choice.Sketch = "16" }), []string{"greedy"}},
		{"sketched graph", of(func(q *ufs.ScanRequest) { graph(q); q.Choice.Sketch = "16" }), []string{"fufs", "laplacian"}},
		{"profile", of(func(q *ufs.ScanRequest) { q.ProfileOnly = true }), []string{"variance"}},
		{"profile of ranks", of(func(q *ufs.ScanRequest) { q.ProfileOnly = true; q.Choice.Scale = "rank" }), []string{"variance"}},
		{"sample", of(func(q *ufs.ScanRequest) { graph(q); q.ProfileOnly = true }), []string{"variance"}},
		{"kept rows", of(func(q *ufs.ScanRequest) { q.Choice.Method = "eufs"; q.ProfileOnly = true; q.KeepRows = 40 }), []string{"eufs", "variance"}},
	}
}

// verb reads a statistics file.
type verb struct {
	name string
	run  func(ctx context.Context, path string) error
}

func bounds(q ufs.Request) ufs.Request { q.Limits.Threads, q.Limits.Memory = 1, 512<<20; return q }

// verbs returns the verbs that read a file of a kind; data is its source, sound another file of the same kind,
// chosen a selection of it.
func (k kind) verbs(dir, data, sound string, chosen *stream.Selection) (list []verb) {
	out := filepath.Join(dir, "out.ufs")
	for _, m := range k.methods {
		list = append(list, verb{"select " + m, func(ctx context.Context, path string) error {
			_, err := ufs.Select(ctx, bounds(ufs.Request{Stats: path, Choice: ufs.Choice{Method: m, K: 2, Stability: k.scan.Choice.Stability}}))
			return err
		}})
	}
	add := func(name string, run func(context.Context, string) error) { list = append(list, verb{name, run}) }
	add("inspect", func(ctx context.Context, path string) error {
		_, err := ufs.Inspect(ctx, bounds(ufs.Request{Input: ufs.Input{Paths: []string{path}}}), false)
		return err
	})
	add("select", func(ctx context.Context, path string) error {
		_, err := ufs.Select(ctx, bounds(ufs.Request{Stats: path, Columns: ufs.Columns{AutoExclude: true}, Choice: ufs.Choice{Scale: k.scan.Choice.Scale}}))
		return err
	})
	add("path", func(ctx context.Context, path string) error {
		_, err := ufs.Path(ctx, bounds(ufs.Request{Stats: path, Choice: ufs.Choice{Method: k.methods[0]}}))
		return err
	})
	for _, files := range [][]string{{"", sound}, {sound, ""}, {""}} {
		add("merge "+strings.Join(files, ","), func(ctx context.Context, path string) error {
			var list []string
			for _, f := range files {
				if f == "" {
					f = path
				}
				list = append(list, f)
			}
			defer os.Remove(out)
			_, err := ufs.Merge(ctx, ufs.MergeRequest{Files: list, Output: out, Limits: ufs.Limits{Threads: 1, Memory: 512 << 20}})
			return err
		})
	}
	add("scan", func(ctx context.Context, path string) error {
		q := k.scan
		q.Profile, q.ProfileOnly, q.Input.Paths, q.Output, q.KeepRows = path, false, []string{data}, out, 0
		q.Request = bounds(q.Request)
		defer os.Remove(out)
		_, err := ufs.Scan(ctx, q)
		return err
	})
	add("redundancy", func(ctx context.Context, path string) error {
		_, err := ufs.Redundancy(ctx, ufs.RedundancyRequest{Request: bounds(ufs.Request{Stats: path})})
		return err
	})
	add("explain", func(ctx context.Context, path string) error {
		_, err := ufs.Explain(ctx, ufs.ExplainRequest{Request: bounds(ufs.Request{Stats: path}), Selection: chosen, Names: []string{"b", "class"}})
		return err
	})
	add("check", func(ctx context.Context, path string) error {
		_, err := ufs.Check(ctx, ufs.CheckRequest{Stats: path, Selection: chosen, Limits: ufs.Limits{Threads: 1, Memory: 512 << 20}})
		return err
	})
	add("check baseline", func(ctx context.Context, path string) error {
		_, err := ufs.Check(ctx, ufs.CheckRequest{Stats: sound, Baseline: path, Selection: chosen, Limits: ufs.Limits{Threads: 1, Memory: 512 << 20}})
		return err
	})
	return list
}

// goText matches messages that nobody has written for people.
var goText = regexp.MustCompile(`runtime error|json: |strconv|Go struct|goroutine|reflect|nil map|%!`)

// mostBytes is the most memory that a run on six columns allocates; a forged size may not exceed it.
const mostBytes = 96 << 20

// run lets a verb read the file at path. It may give an answer, refuse the request or the file, or report that
// the selection no longer serves; a message about the file names it, and a remedy.
func run(t *testing.T, v verb, path, what string) {
	t.Helper()
	defer func() {
		if fault := recover(); fault != nil {
			t.Errorf("%s, %s: panic: %v\n%s", v.name, what, fault, debug.Stack())
		}
	}()
	before := allocated()
	err := v.run(t.Context(), path)
	if n := allocated() - before; n > mostBytes {
		t.Errorf("%s, %s: %d MiB allocated", v.name, what, n>>20)
	}
	if err == nil {
		return
	}
	said := err.Error()
	switch code := exit.CodeOf(err); {
	case code != exit.Usage && code != exit.Data && code != exit.Stale:
		t.Errorf("%s, %s: exit code %d: %s", v.name, what, code, said)
	case code == exit.Data && (!strings.Contains(said, path) || !strings.Contains(said, "; ") && !strings.Contains(said, "no usable feature")):
		t.Errorf("%s, %s: neither file nor remedy: %s", v.name, what, said)
	case goText.MatchString(said):
		t.Errorf("%s, %s: the message shows Go's internals: %s", v.name, what, said)
	}
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// made is a sound file of a kind, and the verbs that read it.
type made struct {
	kind  string
	path  string
	file  *forged.File
	verbs []verb
}

// all makes a file of each kind in dir.
func all(t testing.TB, dir string) (list []made) {
	t.Helper()
	data := rows(t, dir)
	other := filepath.Join(dir, "other.csv")
	must.Do(t, os.WriteFile(other, append(must.Get(os.ReadFile(data))(t), "1,2,3,4,5,6,1\n"...), 0o600))
	for _, k := range kinds() {
		q := k.scan
		scan := func(input, name string) string {
			q.Input.Paths, q.Output = []string{input}, filepath.Join(dir, k.name+name)
			must.Get(ufs.Scan(t.Context(), q))(t)
			return q.Output
		}
		path, sound := scan(data, ".ufs"), scan(other, " of other rows.ufs")
		// Without one, a selection is of no use to the verbs that take one.
		chosen, err := ufs.Select(t.Context(), bounds(ufs.Request{Stats: path, Choice: ufs.Choice{Method: k.methods[0], K: 2}}))
		if err != nil {
			t.Fatalf("selecting from %s: %v", k.name, err)
		}
		list = append(list, made{k.name, path, must.Get(forged.Open(path))(t), k.verbs(dir, data, sound, chosen)})
	}
	return list
}

// A statistics file with right checksums but forged contents is refused with a message, or taken as it is. Of
// the thousands of files that differ from a sound one in one thing the test reads some at regular intervals,
// each by one of the verbs; FuzzForged reads others.
func TestForged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "forged.ufs")
	for _, m := range all(t, dir) {
		n := 0
		for what, other := range m.file.Variants() {
			n++
			if every := long.CountCases(4*41, 41); strings.Contains(what, " word ") && n%(9*every) != 0 || n%every != 0 {
				continue
			}
			must.Do(t, os.WriteFile(path, other.Bytes(), 0o600))
			run(t, m.verbs[n/41%len(m.verbs)], path, m.kind+", "+what)
		}
	}
}

// These files once crashed the program.
func TestForgedBefore(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "forged.ufs")
	for _, m := range all(t, dir) {
		for what, other := range m.file.Variants() {
			switch what {
			case "header .columns deleted", "header .columns with the first twice", "header .columns less the last", "header .options deleted",
				"section rows for rows", "section rows for facts":
			default:
				continue
			}
			must.Do(t, os.WriteFile(path, other.Bytes(), 0o600))
			for _, v := range m.verbs {
				run(t, v, path, m.kind+", "+what)
			}
		}
	}
}

// FuzzForged changes the header of a sound file as it likes, and a word of a section.
func FuzzForged(f *testing.F) {
	dir := f.TempDir()
	list := all(f, dir)
	for i, m := range list {
		f.Add(uint8(i), uint8(0), m.file.Header, uint8(i), uint16(1), uint64(1))
	}
	f.Fuzz(func(t *testing.T, kind, verb uint8, header []byte, section uint8, at uint16, word uint64) {
		m := list[int(kind)%len(list)]
		other := forged.File{Header: header, Sections: slices.Clone(m.file.Sections)}
		s := &other.Sections[int(section)%len(other.Sections)]
		s.Body = bytes.Clone(s.Body)
		binary.LittleEndian.PutUint64(s.Body[8*(int(at)%(len(s.Body)/8)):], word)
		path := filepath.Join(t.TempDir(), "forged.ufs")
		must.Do(t, os.WriteFile(path, other.Bytes(), 0o600))
		run(t, m.verbs[int(verb)%len(m.verbs)], path, m.kind)
	})
}
