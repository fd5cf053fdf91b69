package ufs_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// placed is a table as the tests know it: its columns with lists expanded, in order. Texts have no values.
type placed struct {
	names []string
	cols  [][]float64
}

// newPlaced has features, a list, a label in the middle, a constant and texts, also at both ends. Column j has
// the mean 10j, so that a mean identifies the column of a value.
func newPlaced(rows int, seed uint64) placed {
	p := placed{names: []string{"id", "a", "flat", "e[0]", "e[1]", "e[2]", "label", "g.p", "g.t", "b", "end"}}
	rng := rand.New(rand.NewPCG(seed, 1))
	for j, name := range p.names {
		col := make([]float64, rows)
		for i := range col {
			switch name {
			case "id", "g.t", "end":
				col[i] = math.NaN()
			case "flat":
				col[i] = 7
			case "label":
				col[i] = float64(i % 3)
			default:
				col[i] = 10*float64(j) + math.Round(8*rng.NormFloat64())
			}
		}
		p.cols = append(p.cols, col)
	}
	return p
}

// ndjson writes the rows as objects: lists and structs are those that the names tell.
func (p placed) ndjson(t *testing.T, path string) string {
	t.Helper()
	var b bytes.Buffer
	for i := range p.cols[0] {
		v := func(j int) float64 { return p.cols[j][i] }
		fmt.Fprintf(&b, `{"id":"r%d","a":%v,"flat":%v,"e":[%v,%v,%v],"label":%v,"g":{"p":%v,"t":"x%d"},"b":%v,"end":"e"}`+"\n",
			i, v(1), v(2), v(3), v(4), v(5), v(6), v(7), i, v(9))
	}
	must.Do(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

// csv writes the rows with the names of the expanded columns.
func (p placed) csv(t *testing.T, path string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(strings.Join(p.names, ",") + "\n")
	for i := range p.cols[0] {
		for j, col := range p.cols {
			if j > 0 {
				b.WriteByte(',')
			}
			if math.IsNaN(col[i]) {
				fmt.Fprintf(&b, "text %d", i)
			} else {
				fmt.Fprint(&b, col[i])
			}
		}
		b.WriteByte('\n')
	}
	must.Do(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

// npy writes the numbers as a matrix, and returns the table that it holds.
func (p placed) npy(t *testing.T, path string) placed {
	t.Helper()
	var m placed
	for _, col := range p.cols {
		if !math.IsNaN(col[0]) {
			m.names, m.cols = append(m.names, fmt.Sprintf("x[%d]", len(m.names))), append(m.cols, col)
		}
	}
	head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", len(m.cols[0]), len(m.cols))
	head += strings.Repeat(" ", 63-(len(head)+10)%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(head)))...)
	b = append(b, head...)
	for i := range m.cols[0] {
		for _, col := range m.cols {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(col[i]))
		}
	}
	must.Do(t, os.WriteFile(path, b, 0o600))
	return m
}

// check holds a selection against the table: X[:, column] is the column of that name, whose mean is that of its report.
func (p placed) check(t *testing.T, what string, s *stream.Selection) {
	t.Helper()
	if s.InputColumns != len(p.names) {
		t.Errorf("%s: %d columns of the input, want %d", what, s.InputColumns, len(p.names))
	}
	seen := make([]bool, len(p.names))
	at := func(name string, c stream.Position) int {
		i, known := c.Index()
		if !known || i >= len(p.names) || p.names[i] != name {
			t.Errorf("%s: column %q is at %v, want %d", what, name, c, slices.Index(p.names, name))
			return slices.Index(p.names, name)
		}
		return i
	}
	for _, c := range s.Columns {
		i, sum := at(c.Name, c.Column), 0.0
		for _, x := range p.cols[i] {
			sum += x
		}
		// Sums of some hundred whole numbers below 1000 are exact; a mean about a pilot is rounded a few times.
		if mean := sum / float64(len(p.cols[i])); math.Abs(mean-float64(c.Mean)) > 1e-12*math.Abs(mean) {
			t.Errorf("%s: the mean of X[:, %d] is %v, and of %s %v", what, i, mean, c.Name, c.Mean)
		}
		seen[i] = true
	}
	for _, f := range s.Selected {
		if at(f.Name, f.Column); f.Columns != nil {
			t.Errorf("%s: %s has the columns %v", what, f.Name, f.Columns)
		}
	}
	for _, l := range s.LeftOut {
		seen[at(l.Name, l.Column)] = true
	}
	if slices.Contains(seen, false) {
		t.Errorf("%s: of %q only %v are features or left out", what, p.names, seen)
	}
}

// TestColumnIsThePositionInTheInput: of every format and under every option that leaves columns out.
func TestColumnIsThePositionInTheInput(t *testing.T) {
	p, dir := newPlaced(90, 1), t.TempDir()
	ndjson, parquet, csv := p.ndjson(t, filepath.Join(dir, "x.ndjson")), filepath.Join(dir, "x.parquet"), p.csv(t, filepath.Join(dir, "x.csv"))
	must.Get(ufs.Convert(t.Context(), ufs.ConvertRequest{Input: ufs.Input{Paths: []string{ndjson}}, Output: parquet}))(t)
	matrix := p.npy(t, filepath.Join(dir, "x.npy"))
	for _, q := range []ufs.Request{
		{}, {Columns: ufs.Columns{Label: "label"}}, {Columns: ufs.Columns{Label: "g.t"}}, {Columns: ufs.Columns{Exclude: []string{"a", "e[1]"}}}, {Columns: ufs.Columns{Names: []string{"e*", "b"}}}, {Columns: ufs.Columns{Names: []string{"g*", "a"}, Label: "label"}},
		{Columns: ufs.Columns{Weight: "b"}}, {Input: ufs.Input{Where: "a > 5"}}, {Columns: ufs.Columns{AutoExclude: true}}, {Choice: ufs.Choice{Method: "variance"}}, {Choice: ufs.Choice{Method: "laplacian"}}, {Choice: ufs.Choice{Method: "eufs"}}, {Choice: ufs.Choice{Scale: "rank"}},
	} {
		if q.Choice.Method == "" {
			q.Choice.Method = "greedy"
		}
		q.Choice.K, q.Choice.Seed = 2, 1
		for _, input := range []string{ndjson, parquet, csv} {
			q.Input.Paths = []string{input}
			s, table := must.Get(ufs.Select(t.Context(), q))(t), p
			if q.Input.Where != "" {
				table = p.rowsWith(func(i int) bool { return p.cols[1][i] > 5 })
			} else if q.Columns.Weight != "" { // means are weighted
				for j := range s.Columns {
					s.Columns[j].Mean = stream.Number(meanOf(p.cols[slices.Index(p.names, s.Columns[j].Name)]))
				}
			}
			table.check(t, fmt.Sprintf("%s, %+v", filepath.Base(input), []any{q.Choice.Method, q.Columns.Label, q.Columns.Names, q.Columns.Exclude, q.Columns.Weight, q.Input.Where}), s)
		}
	}
	for _, input := range []string{ndjson, parquet, csv} { // inspect lists them in this order
		var names []string
		for _, c := range must.Get(ufs.Inspect(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{input}}}, false))(t).Columns {
			names = append(names, c.Name)
		}
		if !slices.Equal(names, p.names) {
			t.Errorf("inspect %s: %q, want %q", filepath.Base(input), names, p.names)
		}
	}
	for _, q := range []ufs.Request{{}, {Columns: ufs.Columns{Label: "x[5]"}}, {Columns: ufs.Columns{Exclude: []string{"x[0]", "x[3]"}}}, {Columns: ufs.Columns{Names: []string{"x[2]", "x[4]"}}}} {
		q.Choice.Method, q.Choice.K, q.Input.Paths = "greedy", 1, []string{filepath.Join(dir, "x.npy")}
		matrix.check(t, "npy", must.Get(ufs.Select(t.Context(), q))(t))
	}
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func meanOf(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// rowsWith is the table of the rows for which keep is true.
func (p placed) rowsWith(keep func(i int) bool) placed {
	out := placed{names: p.names}
	for _, col := range p.cols {
		var kept []float64
		for i, x := range col {
			if keep(i) {
				kept = append(kept, x)
			}
		}
		out.cols = append(out.cols, kept)
	}
	return out
}

// positionsIn collects every position of a column in a selection.
func positionsIn(s *stream.Selection) string {
	var b strings.Builder
	fmt.Fprintln(&b, s.InputColumns)
	for _, f := range s.Selected {
		fmt.Fprintln(&b, f.Name, f.Column, f.Columns)
	}
	for _, c := range s.Columns {
		fmt.Fprintln(&b, c.Name, c.Column)
	}
	left := slices.Clone(s.LeftOut)
	slices.SortFunc(left, func(a, b stream.LeftOut) int { return strings.Compare(a.Name, b.Name) })
	for _, l := range left {
		fmt.Fprintln(&b, l.Name, l.Column)
	}
	return b.String()
}

// TestPositionsOfStatistics: a scan and a selection, shards and their sum, and a plan give the positions of one
// run over the rows, in whatever order the files are named, and although their columns are in different orders.
func TestPositionsOfStatistics(t *testing.T) {
	dir := t.TempDir()
	first := newPlaced(60, 1).csv(t, filepath.Join(dir, "1.csv"))
	second := newPlaced(70, 2)
	order := rand.New(rand.NewPCG(3, 1)).Perm(len(second.names))
	moved := placed{}
	for _, j := range order {
		moved.names, moved.cols = append(moved.names, second.names[j]), append(moved.cols, second.cols[j])
	}
	inputs := []string{first, moved.csv(t, filepath.Join(dir, "2.csv"))}
	both := newPlaced(60, 1)
	for j := range both.cols {
		both.cols[j] = append(both.cols[j], second.cols[j]...)
	}
	from := func(stats string) *stream.Selection {
		return must.Get(ufs.Select(t.Context(), ufs.Request{Stats: stats, Choice: ufs.Choice{Method: "greedy", K: 3}}))(t)
	}
	request := ufs.Request{Input: ufs.Input{Paths: inputs}, Choice: ufs.Choice{Method: "greedy", K: 3}, Columns: ufs.Columns{Label: "label"}}
	direct := must.Get(ufs.Select(t.Context(), request))(t)
	both.check(t, "rows", direct)
	want := positionsIn(direct)
	scan := func(name string, change func(*ufs.ScanRequest)) string {
		q := ufs.ScanRequest{Request: request}
		q.Choice.K, q.Output = 0, filepath.Join(dir, name)
		change(&q)
		must.Get(ufs.Scan(t.Context(), q))(t)
		return q.Output
	}
	compare := func(what, stats string) {
		t.Helper()
		if got := positionsIn(from(stats)); got != want {
			t.Errorf("%s: got\n%swant\n%s", what, got, want)
		}
	}
	compare("scan", scan("all.ufs", func(*ufs.ScanRequest) {}))
	one := scan("part1.ufs", func(q *ufs.ScanRequest) { q.Input.Paths = inputs[:1] })
	two := scan("part2.ufs", func(q *ufs.ScanRequest) { q.Input.Paths = inputs[1:] })
	for i, files := range [][]string{{one, two}, {two, one}} {
		sum := filepath.Join(dir, fmt.Sprint("sum", i, ".ufs"))
		must.Get(ufs.Merge(t.Context(), ufs.MergeRequest{Files: files, Output: sum}))(t)
		compare("sum of files", sum)
		three := scan(fmt.Sprint("again", i, ".ufs"), func(q *ufs.ScanRequest) {
			q.Input.Paths = []string{second.csv(t, filepath.Join(dir, fmt.Sprint("3", i, ".csv")))}
		})
		must.Get(ufs.Merge(t.Context(), ufs.MergeRequest{Files: []string{three, sum}, Output: filepath.Join(dir, "total.ufs")}))(t)
		total := from(filepath.Join(dir, "total.ufs"))
		if total.Selected = direct.Selected; positionsIn(total) != want { // more rows select others
			t.Errorf("sum of sums: got\n%swant\n%s", positionsIn(total), want)
		}
	}
	profile := scan("profile.ufs", func(q *ufs.ScanRequest) { q.ProfileOnly = true })
	if got := positionsIn(must.Get(ufs.Select(t.Context(), ufs.Request{Stats: profile, Choice: ufs.Choice{Method: "variance", K: 3}}))(t)); !strings.HasPrefix(got, "11\n") {
		t.Errorf("of a profile:\n%s", got)
	}
	plan := filepath.Join(dir, "job.plan.json")
	planned := request
	planned.Choice.K, planned.Output = 0, plan
	must.Get(ufs.WritePlan(t.Context(), planned))(t)
	var parts []string
	for i := range 2 {
		parts = append(parts, scan(fmt.Sprintf("shard%d.ufs", i), func(q *ufs.ScanRequest) {
			q.Input.Paths, q.Input.Plan, q.Shard, q.Columns.Label, q.Choice.Method = nil, plan, fmt.Sprintf("%d/2", i+1), "", ""
		}))
	}
	sum := filepath.Join(dir, "shards.ufs")
	must.Get(ufs.Merge(t.Context(), ufs.MergeRequest{Files: parts, Output: sum}))(t)
	compare("shards of a plan", sum)
}

// TestPositionsBehindWhatCannotBeRead: fields of a structured array that no column holds count, as numpy counts them, also
// behind the last column that is read, and in a plan.
func TestPositionsBehindWhatCannotBeRead(t *testing.T) {
	head := "{'descr': [('when', '<M8[ns]'), ('a', '<f8'), ('z', '<c16'), ('v', '<f8', (2,)), ('end', '<c8')], 'fortran_order': False, 'shape': (40,), }"
	head += strings.Repeat(" ", 63-(len(head)+10)%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(head)))...)
	b = append(b, head...)
	for i := range 40 {
		for k := range 7 {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(math.Sin(float64(i*i+k*i))))
		}
	}
	dir := t.TempDir()
	path, plan := filepath.Join(dir, "x.npy"), filepath.Join(dir, "x.plan.json")
	must.Do(t, os.WriteFile(path, b, 0o600))
	q := ufs.Request{Input: ufs.Input{Paths: []string{path}}, Choice: ufs.Choice{Method: "greedy", K: 2}}
	planned := q
	planned.Choice.K, planned.Output = 0, plan
	must.Get(ufs.WritePlan(t.Context(), planned))(t)
	for _, q := range []ufs.Request{q, {Input: ufs.Input{Plan: plan}, Choice: ufs.Choice{Method: "greedy", K: 2}}} {
		s, got := must.Get(ufs.Select(t.Context(), q))(t), map[string]string{}
		for _, c := range s.Columns {
			got[c.Name] = c.Column.String()
		}
		if want := "map[a:1 v[0]:3 v[1]:4]"; fmt.Sprint(got) != want || s.InputColumns != 6 {
			t.Errorf("got %v of %d columns, want %s of 6", got, s.InputColumns, want)
		}
	}
}

// TestPositionsInAUnion: columns have their positions in the united schema, with the columns of later files
// last.
func TestPositionsInAUnion(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) { must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)) }
	write("1.csv", "t,a,b\nx,1,7\ny,5,2\nz,2,4\n")
	write("2.csv", "new,b,u,a\n3,1,p,9\n4,8,q,4\n9,2,r,1\n")
	s := must.Get(ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{dir}}, Columns: ufs.Columns{UnionByName: true, Missing: "mean"}, Choice: ufs.Choice{Method: "greedy", K: 3}}))(t)
	got := map[string]string{}
	for _, c := range s.Columns {
		got[c.Name] = c.Column.String()
	}
	for _, l := range s.LeftOut {
		got[l.Name] = l.Column.String()
	}
	if want := "map[a:1 b:2 new:3 t:0 u:4]"; fmt.Sprint(got) != want || s.InputColumns != 5 {
		t.Errorf("got %v of %d, want %s of 5", got, s.InputColumns, want)
	}
}

// TestPositionsOfWhatIsMade: features that are made of a column have its position, and a group has those of all.
func TestPositionsOfWhatIsMade(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,kind,a,day,b,c\n")
	rng := rand.New(rand.NewPCG(4, 1))
	for i := range 120 {
		c := fmt.Sprint(rng.IntN(50))
		if i%9 == 0 {
			c = ""
		}
		fmt.Fprintf(&b, "row %d,%c,%d,2024-%02d-%02d,%d,%s\n", i, 'u'+rune(rng.IntN(3)), rng.IntN(100), 1+i%12, 1+i%28, rng.IntN(100), c)
	}
	q := ufs.Request{
		Input:   ufs.Input{Paths: []string{writeFile(t, "x.csv", b.String())}},
		Choice:  ufs.Choice{Method: "greedy", K: 4, Groups: writeFile(t, "groups.json", `{"both": ["b", "is_missing(c)"]}`), Keep: []string{"kind", "day", "both"}},
		Columns: ufs.Columns{Missing: "mean", Categorical: "kind", Times: true, MissingIndicators: true},
	}
	s := must.Get(ufs.Select(t.Context(), q))(t)
	at := map[string]int{"id": 0, "kind": 1, "a": 2, "day": 3, "b": 4, "c": 5}
	for _, c := range s.Columns {
		column, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(c.Name, "is_missing("), ")"), "=")
		if column, _, _ = strings.Cut(column, "."); c.Column != stream.PositionAt(at[column]) {
			t.Errorf("%s is at %v, want %d", c.Name, c.Column, at[column])
		}
	}
	for name, want := range map[string]string{"kind": "1 [1]", "day": "3 [3]", "both": "4 [4 5]"} {
		i := slices.IndexFunc(s.Selected, func(f stream.Selected) bool { return f.Name == name })
		if i < 0 || fmt.Sprint(s.Selected[i].Column, " ", s.Selected[i].Columns) != want {
			t.Errorf("%s is %+v, want columns %s", name, s.Selected, want)
		}
	}
	if s.InputColumns != 6 {
		t.Errorf("%d columns, want 6", s.InputColumns)
	}
}

// TestOldPositionsAreUnknown: a statistics file of an earlier version, and a selection of version 1, tell of no positions,
// and none is made up: docs/vectors/tiny.ufs was written before there were any.
func TestOldPositionsAreUnknown(t *testing.T) {
	old := filepath.Join("..", "docs", "vectors", "tiny.ufs")
	s := must.Get(ufs.Select(t.Context(), ufs.Request{Stats: old, Choice: ufs.Choice{Method: "greedy", K: 2}}))(t)
	for _, f := range s.Selected {
		if _, known := f.Column.Index(); known || s.InputColumns != 0 {
			t.Errorf("%s is at %v of %d", f.Name, f.Column, s.InputColumns)
		}
	}
	dir := t.TempDir()
	newer := filepath.Join(dir, "newer.ufs")
	must.Get(ufs.Scan(t.Context(), ufs.ScanRequest{Request: ufs.Request{Input: ufs.Input{Paths: []string{filepath.Join("..", "docs", "vectors", "tiny.csv")}}, Columns: ufs.Columns{Missing: "mean"}, Output: newer}}))(t)
	header := must.Get(json.Marshal(must.Get(chunkio.ReadStatsHeader(t.Context(), newer, chunkio.FetchOptions{}))(t)))(t)
	if bytes.Contains(header, []byte(`osition`)) || bytes.Contains(header, []byte(`"column"`)) { // earlier versions refuse keys that they do not know
		t.Errorf("the header tells of positions: %s", header)
	}

	var b bytes.Buffer
	input := writeFile(t, "x.csv", "t,a,b,c\nx,1,5,2\ny,2,3,9\nz,9,1,1\n")
	s = must.Get(ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{input}}, Choice: ufs.Choice{Method: "greedy", K: 2}}))(t)
	must.Do(t, s.Encode(&b))
	v1 := strings.Replace(b.String(), stream.SelectionSchema, stream.SelectionSchemaV1, 1)
	path := filepath.Join(dir, "v1.json")
	must.Do(t, os.WriteFile(path, []byte(v1), 0o600))
	read := must.Get(ufs.ReadSelection(t.Context(), path, chunkio.FetchOptions{}))(t)
	for i, f := range read.Selected {
		if _, known := f.Column.Index(); known || f.Name != s.Selected[i].Name || read.InputColumns != 0 {
			t.Errorf("version 1: %+v of %d columns, want %s at an unknown place", f, read.InputColumns, s.Selected[i].Name)
		}
	}
	b.Reset()
	must.Do(t, read.Encode(&b))
	if again := b.String(); strings.Count(again, `"column": null`) != len(s.Selected)+len(s.Columns) {
		t.Errorf("written again:\n%s", again)
	}
}
