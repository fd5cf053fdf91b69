package chunkio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/stream"
)

// labelled runs a pass and returns the name of every row's class, and the positions of the rows. It checks that
// classes are numbered in the order of delivery, and that targets match them if both are requested.
func labelled(ds *Dataset, r stream.Range) (names []string, positions []int64, err error) {
	var numbers []int32
	var targets []float64
	codes := false
	for c, err := range ds.Chunks(context.Background(), r) {
		if err != nil {
			return nil, nil, err
		}
		if c.Class == nil || len(c.Class) != c.Rows {
			return nil, nil, fmt.Errorf("%d classes of %d rows", len(c.Class), c.Rows)
		}
		for i, class := range c.Class {
			numbers = append(numbers, class)
			positions = append(positions, c.Position(i))
		}
		targets, codes = append(targets, c.Target...), codes || c.TargetCodes
	}
	classes := ds.Classes()
	next := int32(0)
	for _, class := range numbers {
		switch {
		case class < -1 || int(class) >= len(classes):
			return nil, nil, fmt.Errorf("class %d of %d", class, len(classes))
		case class > next:
			return nil, nil, fmt.Errorf("class %d before %d", class, next)
		case class == next:
			next++
		}
		if class < 0 {
			names = append(names, formattest.NoName)
		} else {
			names = append(names, classes[class])
		}
	}
	for i, target := range targets {
		want := naiveTarget(names[i], codes)
		if target != want && target != float64(float32(want)) && !(want != want && target-target != 0) {
			return nil, nil, fmt.Errorf("row %d is of class %q, and its target is %v, want %v", positions[i], names[i], target, want)
		}
	}
	if some := dataset.TableOf(ds).Features.Target != nil; some && len(targets) != len(names) || !some && targets != nil {
		return nil, nil, fmt.Errorf("%d targets of %d rows", len(targets), len(names))
	}
	if r.All() && int(next) != len(classes) {
		return nil, nil, fmt.Errorf("%d classes in the rows, %d in all", next, len(classes))
	}
	if u := slices.Compact(slices.Sorted(slices.Values(classes))); len(u) != len(classes) {
		return nil, nil, errors.New("two classes have one name")
	}
	return names, positions, nil
}

// naiveTarget is the target of a row whose label has this text.
func naiveTarget(text string, codes bool) float64 {
	switch number, err := strconv.ParseFloat(text, 64); {
	case text == formattest.NoName:
		return math.NaN()
	case codes:
		return float64(xxhash.Sum64String(text) >> 11)
	case text == "true":
		return 1
	case err == nil:
		return number
	}
	return 0
}

// Classes equal the classes of the naive twin's rows, under every policy, sample and cut into files, for any number
// of threads and any memory.
func TestClassesAgreeWithNaiveTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 2))
	for round := range long.CountCases(10, 40) {
		rows := []int{1, 2, 255, 256, 257, 3000, 20000}[rng.IntN(7)]
		tab := chunkiotest.RandomTable(rng, rows, 1+rng.IntN(3), []float64{0, 0.05}[rng.IntN(2)])
		kinds := []int{1, 3, 1000}[rng.IntN(3)]
		words := make([]string, rows)
		weights := make([]float64, rows)
		for i := range words {
			words[i] = strings.Repeat("ж", rng.IntN(kinds)) // the empty one among them
			if rng.IntN(7) == 0 {
				words[i] = listing.HiveNull
			}
			weights[i] = float64(rng.IntN(3))
		}
		tab.AddLabel("kind", words).AddScalar("w", weights)
		opt := Options{
			Classes: true, Target: true, Label: "kind", Weight: []string{"", "w"}[rng.IntN(2)], Exclude: []string{"w"},
			Missing: []stream.MissingPolicy{stream.MissingDropRow, stream.MissingKeep}[rng.IntN(2)],
			Sample:  []int64{0, 0, 1, int64(rows) / 2}[rng.IntN(4)], Seed: rng.Uint64(),
		}
		disk, paths := PlantTable(tab, 1+rng.IntN(3), 1+rng.Int64N(int64(rows)), rng.Uint64())
		var first []string
		for _, threads := range []int{1, 2, 8} {
			opt.Threads = threads
			least := disk.OpenDataset(t, paths, opt).MinMemory()
			for _, memory := range []int64{least, 3 * least, 1 << 30} {
				opt.Memory = memory
				ds := disk.OpenDataset(t, paths, opt)
				names, positions, err := labelled(ds, stream.Range{})
				if err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				want, err := naive(tab, opt, ColumnNames(ds))
				formattest.Must(t, err)
				if !slices.Equal(positions, want.Positions) {
					t.Fatalf("round %d: other rows", round)
				}
				for i, p := range positions {
					word := words[p]
					if word == listing.HiveNull {
						word = formattest.NoName
					}
					if names[i] != word {
						t.Fatalf("round %d: row %d is of class %q, want %q", round, p, names[i], word)
					}
				}
				if first == nil {
					first = ds.Classes()
				}
				if !slices.Equal(ds.Classes(), first) {
					t.Fatalf("round %d: %d threads and %d bytes number the classes otherwise", round, threads, memory)
				}
			}
		}
		disk.CheckClosed(t)
	}
}

// A second pass, and one of a part, give every row the class of the first.
func TestClassesStayOverPasses(t *testing.T) {
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(3, 2)), 5000, 2, 0.01)
	words := make([]string, tab.Rows)
	for i := range words {
		words[i] = fmt.Sprint(i * i % 97)
	}
	disk, paths := PlantTable(tab.AddLabel("kind", words), 3, 500, 4)
	ds := disk.OpenDataset(t, paths, Options{Classes: true, Label: "kind", Missing: stream.MissingDropRow})
	whole, _, err := labelled(ds, stream.Range{})
	formattest.Must(t, err)
	second, _, err := labelled(ds, stream.Range{})
	if err != nil || !slices.Equal(second, whole) {
		t.Errorf("the second pass has other classes: %v", err)
	}
	at := 0
	for i := range 3 {
		r, err := stream.Shard(ds, i+1, 3)
		formattest.Must(t, err)
		for c, err := range ds.Chunks(t.Context(), r) {
			formattest.Must(t, err)
			for _, class := range c.Class {
				if got := ds.Classes()[class]; got != whole[at] {
					t.Fatalf("shard %d: row %d is of class %q, want %q", i+1, at, got, whole[at])
				}
				at++
			}
		}
	}
	if at != len(whole) {
		t.Errorf("%d rows in the shards, %d in all", at, len(whole))
	}
}

func TestTooManyClasses(t *testing.T) {
	for _, n := range []int{format.MaxClasses, format.MaxClasses + 1} {
		words := make([]string, n+10)
		for i := range words {
			words[i] = fmt.Sprint(i % n)
		}
		disk, paths := PlantTable(chunkiotest.NewTable(len(words)).AddScalar("a", make([]float64, len(words))).AddLabel("id", words), 2, 10_000, 1)
		var first error
		for _, memory := range []int64{0, 20 << 20} {
			ds := disk.OpenDataset(t, paths, Options{Classes: true, Label: "id", Memory: memory})
			_, _, err := labelled(ds, stream.Range{})
			if n == format.MaxClasses {
				if err != nil || len(ds.Classes()) != n {
					t.Errorf("%d classes, error %v", len(ds.Classes()), err)
				}
				continue
			}
			e, ok := errors.AsType[*stream.DataError](err)
			if !ok || e.Column != "id" || !strings.Contains(err.Error(), "no class") {
				t.Errorf("%d distinct values: error %v", n, err)
			}
			if first == nil {
				first = err
			} else if err.Error() != first.Error() {
				t.Errorf("errors %q and %q", first, err)
			}
		}
		ds := disk.OpenDataset(t, paths, Options{Classes: true, Label: "id", Sample: 100})
		if _, _, err := labelled(ds, stream.Range{}); err != nil || len(ds.Classes()) < 90 {
			t.Errorf("a sample of 100 of %d distinct values: %d classes, error %v", n, len(ds.Classes()), err)
		}
	}
	long := []string{strings.Repeat("x", format.MaxClassText+1)}
	disk, paths := PlantTable(chunkiotest.NewTable(1).AddScalar("a", make([]float64, 1)).AddLabel("id", long), 1, 1, 1)
	if _, _, err := labelled(disk.OpenDataset(t, paths, Options{Classes: true, Label: "id"}), stream.Range{}); !chunkiotest.IsData(err) {
		t.Errorf("a label of %d bytes: error %v", len(long[0]), err)
	}
}

func TestLabelsThatCannotBeClasses(t *testing.T) {
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(3, 2)), 10, 2, 0)
	tab.Leaves = append(tab.Leaves, format.Leaf{Name: "empty", Type: "null", Why: "always null", NoClass: "always null"})
	disk, paths := PlantTable(tab, 1, 10, 4)
	for _, opt := range []Options{{}, {Label: "emb"}, {Label: "emb[1]"}, {Label: "empty"}, {Label: "nobody"}} {
		opt.Classes = true
		if _, err := OpenPaths(t.Context(), paths, disk.Open, opt); !chunkiotest.IsUsage(err) {
			t.Errorf("label %q: error %v, want a usage error", opt.Label, err)
		}
	}
	ds := disk.OpenDataset(t, paths, Options{Label: "a0"})
	for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
		if err != nil || c.Class != nil {
			t.Errorf("classes %v without being asked for, error %v", c.Class, err)
		}
	}
}

func TestLabelErrorsNameTheirPlace(t *testing.T) {
	tab := chunkiotest.NewTable(100).AddScalar("a", make([]float64, 100)).AddLabel("kind", make([]string, 100))
	disk, paths := PlantTable(tab, 2, 20, 1)
	broken := errors.New("broken page")
	disk.ByPath[paths[1]].Fault = func(g int, leaf string, _, _ int64) error {
		if g == 1 && leaf == "kind" {
			return broken
		}
		return nil
	}
	_, _, err := labelled(disk.OpenDataset(t, paths, Options{Classes: true, Label: "kind"}), stream.Range{})
	e, ok := errors.AsType[*stream.DataError](err)
	if !ok || !errors.Is(err, broken) || e.Path != paths[1] || e.RowGroup != 1 || e.Column != "kind" {
		t.Errorf("error %v", err)
	}
	disk.CheckClosed(t)
}

func TestPartitionKeysAsClasses(t *testing.T) {
	disk := plantAt(4, "year=2020/kind=b%20c/f", "year=2021/kind=__HIVE_DEFAULT_PARTITION__/f", "year=2020/kind=a/f")
	paths := []string{"year=2020/kind=b%20c/f", "year=2021/kind=__HIVE_DEFAULT_PARTITION__/f", "year=2020/kind=a/f"}
	for label, want := range map[string][]string{
		"kind": {"b c", formattest.NoName, "a"},
		"year": {"2020", "2021", "2020"},
	} {
		got, _, err := labelled(disk.OpenDataset(t, paths, Options{Classes: true, Target: true, Label: label}), stream.Range{})
		if err != nil || !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%s: %q, error %v", label, got, err)
		}
	}
}

// A stream on standard input has the classes of the file, also with dictionaries that
// every batch replaces. It has targets unless its batches are compressed, whose texts may be of any size.
func TestClassesOfAStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 7))
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "kind", Nullable: true,
		Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}}}, nil)
	var records []arrow.Record
	var want []string
	for range 5 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for range 100 {
			b.Field(0).(*array.Float64Builder).Append(rng.NormFloat64())
			kind := b.Field(1).(*array.BinaryDictionaryBuilder)
			if word := []string{"", "a", "größe", "b c", formattest.NoName}[rng.IntN(5)]; word == formattest.NoName {
				kind.AppendNull()
				want = append(want, word)
			} else if err := kind.AppendString(word); err != nil {
				t.Fatalf("appending %q to the dictionary: %v", word, err)
			} else {
				want = append(want, word)
			}
		}
		records = append(records, b.NewRecord())
	}
	var content []byte
	opt := Options{Classes: true, Target: true, Label: "kind"}
	for _, options := range [][]ipc.Option{nil, {ipc.WithZstd()}} {
		content = formattest.WriteArrow(t, true, records, options...)
		opt.Stdin = bytes.NewReader(content)
		ds, err := Open(t.Context(), []string{"-"}, opt)
		formattest.Must(t, err)
		got, _, err := labelled(ds, stream.Range{})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("other classes, error %v", err)
		}
		if some := dataset.TableOf(ds).Features.Target != nil; some != (options == nil) {
			t.Errorf("%d options: targets %v", len(options), some)
		}
	}
	opt.Stdin = bytes.NewReader(content)
	ds, err := Open(t.Context(), []string{"-"}, Options{Stdin: opt.Stdin})
	formattest.Must(t, err)
	if _, err := ds.With(opt); !chunkiotest.IsUsage(err) {
		t.Errorf("classes asked for too late: error %v, want a usage error", err)
	}
}
