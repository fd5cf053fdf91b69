package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/browsertest"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// asProgram is set in the environment of a test binary that plays the program.
const asProgram = "UFS_STREAM_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Unsetenv("GOGC") // package must sets it for tests; the program has a pace of its own
		main()
		return
	}
	os.Exit(browsertest.RunTests(m))
}

// result is the exit code of a run and what it wrote.
type result struct {
	code     int
	out, err string
}

// invoke runs the program in this process.
func invoke(args ...string) result {
	return invokeWith(context.Background(), nil, args...)
}

// optionMark is what stands for an option in a [stream.Text]: nobody should see it. A $ before it makes it
// a variable of a completion script.
var optionMark = regexp.MustCompile(`(^|[^$])\{[+-]?[a-z][a-z-]*\}`)

// plantedSecret stands in tests for what is secret in a URL. Whatever the program is given, it is in no message and no
// output.
const plantedSecret = "PLANTED-SECRET-2f8c"

// invokeWith is invoke with a context and a standard input.
func invokeWith(ctx context.Context, in []byte, args ...string) result {
	var out, errw bytes.Buffer
	code := run(ctx, args, bytes.NewReader(in), &out, &errw)
	for _, said := range []string{out.String(), errw.String()} {
		if mark := optionMark.FindString(said); mark != "" {
			panic(fmt.Sprintf("ufs-stream %s says %s where a flag should stand:\n%s", strings.Join(args, " "), mark, said))
		}
	}
	if flag := foreignFlag(args, code, errw.String()); flag != "" {
		panic(fmt.Sprintf("ufs-stream %s advises %s:\n%s", strings.Join(args, " "), flag, errw.String()))
	}
	for _, left := range []string{out.String(), errw.String(), outputOf(args)} {
		if strings.Contains(left, plantedSecret) {
			panic(fmt.Sprintf("ufs-stream %s tells a secret:\n%s", strings.Join(args, " "), left))
		}
	}
	if err := judgeOutputs(args, out.String(), errw.String()); err != nil {
		panic(fmt.Sprintf("ufs-stream %s writes JSON that does not fit its schema: %v\n%s", strings.Join(args, " "), err, out.String()))
	}
	return result{code, out.String(), errw.String()}
}

// outputOf is the text of the file that -o names, of a run that was given a secret.
func outputOf(args []string) string {
	at := slices.Index(args, "-o") + 1
	if at == 0 || at == len(args) || !strings.Contains(strings.Join(args, " "), plantedSecret) {
		return ""
	}
	text, _ := os.ReadFile(args[at]) // there is none after most errors
	return string(text)
}

// must runs the program and wants exit code 0.
func must(t *testing.T, args ...string) string {
	t.Helper()
	r := invoke(args...)
	if r.code != exit.Done {
		t.Fatalf("ufs-stream %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.err)
	}
	return r.out
}

// ends runs the program and wants an exit code, and words on standard error. A run that
// fails without a result must print nothing.
func ends(t *testing.T, code int, says string, args ...string) result {
	t.Helper()
	r := invoke(args...)
	if r.code != code || !strings.Contains(r.err, says) {
		t.Errorf("%s: exit code %d, want %d and something of %q:\n%s", strings.Join(args, " "), r.code, code, says, r.err)
	}
	if code != exit.Done && code != exit.Unconverged && code != exit.Stale && r.out != "" || strings.Contains(r.err, "strconv") {
		t.Errorf("%s: failed, yet wrote to standard output, or speaks of its insides: %q, %q", strings.Join(args, " "), r.out, r.err)
	}
	return r
}

// outcome is a command line, its exit code, and words that it says on standard error.
type outcome struct {
	args string
	code int
	says string
}

// checkAll runs every command line, the failing ones also with messages in JSON; the names of the subtests leave out the
// folders.
func checkAll(t *testing.T, outcomes []outcome, folders ...string) {
	t.Helper()
	for _, c := range outcomes {
		name := c.args
		for _, folder := range folders {
			name = strings.ReplaceAll(name, folder, "")
		}
		t.Run(name, func(t *testing.T) {
			if r := ends(t, c.code, c.says, strings.Fields(c.args)...); r.code != exit.Done {
				sameInJSON(t, r, strings.Fields(c.args)...)
			}
		})
	}
}

// decoded runs a verb with JSON output.
func decoded[T any](t *testing.T, verb string, args ...string) *T {
	t.Helper()
	v, out := new(T), must(t, append([]string{verb, "--format", "json"}, args...)...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		t.Fatalf("decoding the JSON: %v\n%s", err, out)
	}
	return v
}

// forecastOf runs plan with JSON output.
func forecastOf(t *testing.T, args ...string) *ufs.Forecast {
	t.Helper()
	return decoded[ufs.Forecast](t, "plan", args...)
}

// read is the text of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("reading a file: %v", err)
	}
	return string(b)
}

// write makes a file and returns its path.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatalf("writing a file: %v", err)
	}
	return path
}

// damaged is a file's text with every step-th byte between two places changed.
func damaged(text string, from, to, step int) string {
	b := []byte(text)
	for i := from; i < to; i += step {
		b[i] ^= 0x55
	}
	return string(b)
}

// folder is a new folder, as a function from a name to its path in the folder.
func folder(t *testing.T) func(name string) string {
	dir := t.TempDir()
	return func(name string) string { return filepath.Join(dir, name) }
}

// plant writes a planted table into n files of equally many rows, and returns their folder
// and paths. Row groups have at most 100 rows.
func plant(t *testing.T, rows int64, n int) (dir string, paths []string) {
	t.Helper()
	return plantSource(t, planted.New(planted.Options{Rows: rows, GroupRow: 100}), n)
}

// plantHoled is plant for a table without every 97th value of its third column.
func plantHoled(t *testing.T, rows int64, n int) (dir string, paths []string) {
	t.Helper()
	return plantSource(t, holed(planted.New(planted.Options{Rows: rows, GroupRow: 100})), n)
}

func plantSource(t *testing.T, table stream.Source, n int) (dir string, paths []string) {
	t.Helper()
	dir = t.TempDir()
	rows := table.Rows()
	for i := range int64(n) {
		path := filepath.Join(dir, fmt.Sprintf("part-%03d.parquet", i))
		part := planted.Part{Source: table, Range: stream.Range{From: rows * i / int64(n), To: rows * (i + 1) / int64(n)}}
		writeSource(t, path, part, chunkio.WriteOptions{RowGroupRows: 100})
		paths = append(paths, path)
	}
	return dir, paths
}

// editedTable is a source whose rows are edited before they are read.
type editedTable struct {
	stream.Source
	edit func(c *stream.Chunk, i int) // edits row i of c
}

func (e editedTable) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		for c, err := range e.Source.Chunks(ctx, r) {
			for i := 0; err == nil && i < c.Rows; i++ {
				e.edit(c, i)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// holed is table without every 97th value of its third column.
func holed(table stream.Source) stream.Source {
	return editedTable{table, func(c *stream.Chunk, i int) {
		if c.Position(i)%97 == 0 {
			c.Col(2)[i] = math.NaN()
		}
	}}
}

var nan = math.NaN()

// columnsFile writes a file of the given columns; NaN becomes null.
func columnsFile(t *testing.T, path string, names []string, columns ...[]float64) string {
	t.Helper()
	src := memory{rows: len(columns[0]), data: slices.Concat(columns...)}
	for _, name := range names {
		src.columns = append(src.columns, stream.Column{Name: name, Type: "double"})
	}
	writeSource(t, path, src, chunkio.WriteOptions{})
	return path
}

func writeSource(t *testing.T, path string, src stream.Source, opt chunkio.WriteOptions) {
	t.Helper()
	if err := chunkio.WriteParquet(t.Context(), path, src, opt); err != nil {
		t.Fatalf("writing the Parquet file: %v", err)
	}
}

// memory is a table in memory; it is one chunk.
type memory struct {
	columns []stream.Column
	rows    int
	data    []float64
}

func (m memory) Columns() []stream.Column { return m.columns }
func (m memory) Rows() int64              { return int64(m.rows) }
func (m memory) Cuts() []int64            { return []int64{0, int64(m.rows)} }

func (m memory) Chunks(context.Context, stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		if m.rows > 0 {
			yield(&stream.Chunk{Block: m.rows, Rows: m.rows, Cols: len(m.columns), Stride: m.rows, Data: m.data}, nil)
		}
	}
}

// selection runs select with JSON output.
func selection(t *testing.T, args ...string) *stream.Selection {
	t.Helper()
	out := must(t, append([]string{"select", "--format", "json"}, args...)...)
	s, err := stream.DecodeSelection(strings.NewReader(out))
	if err != nil {
		t.Fatalf("decoding the selection: %v\n%s", err, out)
	}
	return s
}

// readSelection reads a selection from a file.
func readSelection(t *testing.T, path string) *stream.Selection {
	t.Helper()
	s, err := ufs.ReadSelection(t.Context(), path, chunkio.FetchOptions{})
	if err != nil {
		t.Fatalf("reading the selection: %v", err)
	}
	return s
}

// names lists what was selected, in order.
func names(s *stream.Selection) []string {
	var out []string
	for _, f := range s.Selected {
		out = append(out, f.Name)
	}
	return out
}

// answer is s as JSON, without what differs from run to run.
func answer(t *testing.T, s *stream.Selection) string {
	t.Helper()
	s.Timing, s.Memory = stream.Timing{}, stream.Memory{}
	return marshal(t, s)
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("encoding the value: %v", err)
	}
	return string(b)
}

// decimal returns n as CSV has it: with all digits, or empty if it is NaN.
func decimal(n stream.Number) string {
	if math.IsNaN(float64(n)) {
		return ""
	}
	return strconv.FormatFloat(float64(n), 'g', -1, 64)
}
