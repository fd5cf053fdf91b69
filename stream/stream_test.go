package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// table is a Source of row numbers in one column, cut at the given row group sizes.
type table struct{ groups []int64 }

func (t table) Columns() []Column { return []Column{{Name: "x", Type: "double"}} }
func (t table) Rows() int64       { c := t.Cuts(); return c[len(c)-1] }
func (t table) Cuts() []int64 {
	cuts := []int64{0}
	for _, g := range t.groups {
		cuts = append(cuts, cuts[len(cuts)-1]+g)
	}
	return cuts
}

func (t table) Chunks(_ context.Context, r Range) iter.Seq2[*Chunk, error] {
	return func(yield func(*Chunk, error) bool) {
		cuts := t.Cuts()
		for i := range t.groups {
			if !r.All() && (cuts[i] < r.From || cuts[i+1] > r.To) {
				continue
			}
			n := int(t.groups[i])
			c := &Chunk{Start: cuts[i], Block: n, Rows: n, Cols: 1, Stride: n, Data: make([]float64, n)}
			for k := range c.Data {
				c.Data[k] = float64(cuts[i] + int64(k))
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// sum adds up rows and fails after a number of chunks.
type sum struct {
	rows  int
	total float64
	fail  int
}

var errSum = errors.New("sum is full")

func (s *sum) Add(c *Chunk) error {
	if s.fail--; s.fail == 0 {
		return errSum
	}
	s.rows += c.Rows
	for _, x := range c.Col(0) {
		s.total += x
	}
	return nil
}

func TestShardsCoverEveryRowOnce(t *testing.T) {
	for _, groups := range [][]int64{{1}, {100}, {5, 1, 1}, {1, 1, 5}, {3, 3, 3, 3}, {2048, 2048, 904}} {
		src := table{groups}
		for n := 1; n <= 9; n++ {
			next, rows := int64(0), 0
			for i := 1; i <= n; i++ {
				r := must.Get(Shard(src, i, n))(t)
				if r.From != r.To {
					if r.From != next {
						t.Fatalf("groups %v: shard %d/%d is %v, want it to start at %d", groups, i, n, r, next)
					}
					next = r.To
				}
				var s sum
				must.Do(t, Fold(context.Background(), src, FoldOptions{Range: r}, &s))
				rows += s.rows
			}
			if next != src.Rows() || int64(rows) != src.Rows() {
				t.Fatalf("groups %v in %d shards: reached row %d and folded %d rows, want %d", groups, n, next, rows, src.Rows())
			}
		}
	}
}

func TestShardRefuses(t *testing.T) {
	var usage *UsageError
	for _, in := range [][2]int{{0, 3}, {4, 3}, {1, 0}, {-1, 2}} {
		if _, err := Shard(table{[]int64{4}}, in[0], in[1]); !errors.As(err, &usage) {
			t.Errorf("shard %d/%d: got %v, want a usage error", in[0], in[1], err)
		}
	}
}

func TestFoldStopsAtTheFirstError(t *testing.T) {
	src := table{[]int64{2, 2, 2}}
	ok, full := new(sum), &sum{fail: 2}
	if err := Fold(context.Background(), src, FoldOptions{}, ok, full); !errors.Is(err, errSum) {
		t.Fatalf("got %v, want the adder's error", err)
	}
	if full.rows != 2 {
		t.Errorf("the failing adder has %d rows, want the 2 of the first chunk", full.rows)
	}

	var meter Meter
	var seen []int64
	stop := errors.New("stop")
	err := Fold(context.Background(), src, FoldOptions{Meter: &meter, After: func(next int64) error {
		seen = append(seen, next)
		if next == 4 {
			return stop
		}
		return nil
	}}, new(sum))
	if !errors.Is(err, stop) || len(seen) != 2 || meter.Rows.Load() != 4 {
		t.Errorf("got %v after %v with %d rows metered, want stop after [2 4] with 4", err, seen, meter.Rows.Load())
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Fold(ctx, src, FoldOptions{}, new(sum)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cancellation", err)
	}
}

func TestBlockRowsStayWithinTheirBounds(t *testing.T) {
	for d := 0; d < 20_000_000; d = d*3/2 + 1 {
		h := BlockRows(d)
		if h < 1 || h > maxBlockRows || h&(h-1) != 0 {
			t.Fatalf("d = %d: %d rows", d, h)
		}
		if h > minBlockRows && h*d*bytesPerNumber > blockByteGoal {
			t.Fatalf("d = %d: a block of %d rows is larger than its goal", d, h)
		}
		if h < minBlockRows && (2*h*d*bytesPerNumber <= blockByteMost || h > 1 && h*d*bytesPerNumber > blockByteMost) {
			t.Fatalf("d = %d: a block of %d rows is not the tallest within its bound", d, h)
		}
		if s := SparseBlockRows(d); s < sparseBlockRows || s < h || s > maxBlockRows {
			t.Fatalf("d = %d: %d sparse rows, and %d dense ones", d, s, h)
		}
	}
}

func TestSelectionReadsBackAsWritten(t *testing.T) {
	s := &Selection{
		Method: "greedy", K: 1, Features: 2, Converged: true,
		Selected: []Selected{
			{Rank: 1, Name: "<script>", Column: PositionAt(1), Score: 0.1, Error: 0},
			{Rank: 2, Name: "g", Members: []string{"a", "b"}, Reads: []string{"c"}, Columns: []Position{PositionAt(0), {}}, Cost: new(Number)},
		},
		Columns:   []ColumnReport{{Name: "a", Mean: Number(math.NaN()), Std: 5e-324}},
		Objective: []Number{1, Number(math.Nextafter(1, 0))},
	}
	var b bytes.Buffer
	must.Do(t, s.Encode(&b))
	if !strings.Contains(b.String(), `"error": 0`) || !strings.Contains(b.String(), `"mean": null`) {
		t.Errorf("zero errors must be there and NaN must be null:\n%s", b.String())
	}
	got := must.Get(DecodeSelection(&b))(t)
	if !reflect.DeepEqual(got.Selected, s.Selected) || got.Objective[1] != s.Objective[1] || got.Columns[0].Std != s.Columns[0].Std || !math.IsNaN(float64(got.Columns[0].Mean)) {
		t.Errorf("got %+v, want %+v", got, s)
	}
	if text := b.String(); strings.Contains(text, `"column": 0`) {
		t.Errorf("an unknown position is written as one:\n%s", text)
	}
	for _, bad := range []string{`{"schema": "other"}`, `{"schema": "` + SelectionSchema + `"} {}`, `{"schema": "` + SelectionSchema + `"`, ``} {
		if _, err := DecodeSelection(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestErrorsNameTheirPlace(t *testing.T) {
	err := &DataError{Path: "a.parquet", RowGroup: 2, Column: "x y", Row: 17, Err: ErrMissing, Remedy: Textf("choose missing mean")}
	if !errors.Is(err, ErrMissing) {
		t.Error("the cause is lost")
	}
	for want, err := range map[string]error{
		`a.parquet: row group 2, column "x y", row 17: missing value; choose missing mean`: err,
		"a: not Parquet": Dataf("a", "not Parquet"),
		"reading needs 3.0 MiB but the limit is 1.0 MiB; raise it: memory-limit 4MiB":  &MemoryError{What: "reading", Need: 3<<20 + 1, Limit: 1 << 20},
		"reading needs 3.0 MiB but the limit is 10 bytes; raise it: memory-limit 4MiB": &MemoryError{What: "reading", Need: 3<<20 + 1, Limit: 10},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestSpell: a caller chooses how options are spelled, in wrapped errors too; braces in
// data do not change.
func TestSpell(t *testing.T) {
	flag := func(option string) string { return "--" + option }
	memory := &MemoryError{What: "reading", Need: 3 << 20, Limit: 10}
	usage := Usagef("{anchors} %d: column %q", 3, "{seed}")
	for _, c := range []struct {
		err         error
		bare, flags string
	}{
		{usage, `anchors 3: column "{seed}"`, `--anchors 3: column "{seed}"`},
		{fmt.Errorf("at x: %w; 100%% of it", usage), `at x: anchors 3: column "{seed}"; 100% of it`, `at x: --anchors 3: column "{seed}"; 100% of it`},
		{Errorf("{rows}: %w", memory), "rows: reading needs 3.0 MiB but the limit is 10 bytes; raise it: memory-limit 3MiB",
			"--rows: reading needs 3.0 MiB but the limit is 10 bytes; raise it: --memory-limit 3MiB"},
		{errors.Join(usage, usage), "anchors 3: column \"{seed}\"\nanchors 3: column \"{seed}\"", "--anchors 3: column \"{seed}\"; --anchors 3: column \"{seed}\""},
		{Usagef("%v %d", Option("k"), 3), "k 3", "--k 3"},
		{Dataf("f", "{mu}: %w", ErrMissing), "f: mu: missing value", "f: --mu: missing value"},
	} {
		if got := c.err.Error(); got != c.bare {
			t.Errorf("got %q, want %q", got, c.bare)
		}
		if got := Spell(c.err, flag); got != c.flags {
			t.Errorf("got %q, want %q", got, c.flags)
		}
	}
	if err := Errorf("{rows}: %w", memory); !errors.As(err, new(*MemoryError)) {
		t.Error("Errorf does not wrap")
	}
	if err := Dataf("f", "{mu}: %w", ErrMissing); !errors.Is(err, ErrMissing) {
		t.Error("Dataf does not wrap")
	}
}

// TestAdvice: a change that a sentence advises is spelled like any option, and found in wrapped errors with the value of
// its own arguments, whatever these contain.
func TestAdvice(t *testing.T) {
	memory := &MemoryError{What: "reading", Need: 3 << 20, Limit: 10}
	for _, c := range []struct {
		err   error
		flags string
		want  []Change
	}{
		{Usagef("see {k}"), "see --k", nil},
		{Usagef("%s: use {missing mean}, or leave {-k} and {+times}", "{scale rank}"), "{scale rank}: use --missing mean, or leave --k and --times",
			[]Change{{Option: "missing", Value: "mean"}, {Option: "k", Leave: true}, {Option: "times"}}},
		{Usagef("%d%% of %s: {columns %[2]s,%s}, not %[1]d", 5, "a\x00%d", "b"), "5% of a\x00%d: --columns a\x00%d,b, not 5", []Change{{Option: "columns", Value: "a\x00%d,b"}}},
		{Usagef("{k %d} of %d", 3, 4), "--k 3 of 4", []Change{{Option: "k", Value: "3"}}},
		{Usagef("{deep=%t}", true), "--deep=true", []Change{{Option: "deep", Value: "true"}}},
		{fmt.Errorf("at x: %w", &DataError{RowGroup: -1, Row: -1, Err: memory, Remedy: Textf("leave {-k} out")}),
			"at x: reading needs 3.0 MiB but the limit is 10 bytes; raise it: --memory-limit 3MiB; leave --k out",
			[]Change{{Option: "memory-limit", Value: "3MiB"}, {Option: "k", Leave: true}}},
		{&OutputError{Path: "o", Err: errors.New("full"), Remedy: Textf("choose {o %s}", "p")}, "cannot write o: full; choose --o p", []Change{{Option: "o", Value: "p"}}},
		{Usagef("unknown verb%s", Correction{"selct", "select"}), "unknown verb; did you mean select?", []Change{{Word: Correction{"selct", "select"}}}},
		{Usagef("unknown verb%s", Correction{}), "unknown verb", nil},
	} {
		if got := Spell(c.err, func(option string) string { return "--" + option }); got != c.flags {
			t.Errorf("got %q, want %q", got, c.flags)
		}
		if got := AdvisedChanges(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%v advises %+v, want %+v", c.err, got, c.want)
		}
	}
}

func TestFaults(t *testing.T) {
	var faults Faults
	if err := faults.Err("run: "); err != nil {
		t.Errorf("no faults: %v", err)
	}
	faults.Addf("{k} = %d is negative", -1)
	faults.Addf("%v", Usagef("{seed} %q", "{k}"))
	err := faults.Err("run: ")
	want := `run: --k = -1 is negative; --seed "{k}"`
	if got := Spell(err, func(option string) string { return "--" + option }); got != want || !errors.As(err, new(*UsageError)) {
		t.Errorf("got %q, want %q", got, want)
	}
}
