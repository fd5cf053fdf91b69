package chunkio

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// factorOfName is a factor that differs between the features values[0], values[1], … or 0, 1, …
func factorOfName(name string) float64 { return 1 + float64(name[len(name)-1]%7)/4 }

// scaledTwin scales the rows of a delivery by the norms of the whole rows, which have columns of the given names, or to a
// total.
func scaledTwin(delivered, whole chunkiotest.Delivered, names, wholeNames []string, scale RowScale, factor func(string) float64) chunkiotest.Delivered {
	norms := make(map[int64]float64)
	for i, row := range whole.Rows {
		var finite []float64
		for j, x := range row {
			if x-x == 0 {
				finite = append(finite, x*factor(wholeNames[j]))
			}
		}
		norm := floats.Norm(finite, 2)
		if scale.Total > 0 {
			norm = floats.Sum(finite) / scale.Total
		}
		if norms[whole.Positions[i]] = norm; norm == 0 {
			norms[whole.Positions[i]] = 1
		}
	}
	for i, row := range delivered.Rows {
		for j := range row {
			if row[j] = row[j] * factor(names[j]) / norms[delivered.Positions[i]]; scale.Log {
				row[j] = math.Log1p(row[j])
			}
		}
	}
	return delivered
}

// TestRowScale: rows are divided by their norms, or scaled to a total, over the columns that LeaveOut names too, whatever
// happens to missing values; those of sparse and dense rows have the same bits, with any threads and memory.
func TestRowScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 7))
	for round := range 24 {
		rows, d := 1+rng.IntN(9000), 2+rng.IntN(8)
		sparse, dense := SparseTable(rng, rows, d, []float64{0, 0.02}[round%2])
		for i := 0; i < rows; i += 1 + rng.IntN(9) { // squares overflow or underflow
			far := []float64{1e200, 1e-200, 1e-300, 1}[rng.IntN(4)]
			floats.Scale(far, sparse.List["values"][i])
			floats.Scale(far, dense.List["values"][i])
		}
		scale := RowScale{UnitRows: true}
		if round%3 == 2 {
			scale = RowScale{Total: 1e4, Log: round%2 == 0}
			for i := range rows {
				for _, row := range [][]float64{sparse.List["values"][i], dense.List["values"][i]} {
					for j, x := range row {
						if x < 0 {
							row[j] = -x
						}
					}
				}
			}
		}
		policy := []stream.MissingPolicy{stream.MissingKeep, stream.MissingDropRow, stream.MissingZero}[round/2%3]
		opt := Options{Missing: policy, Sample: []int64{0, 1 + int64(rows)/3}[round/6%2], Threads: 1 + rng.IntN(3), LeaveOut: []stream.LeftOut{{Name: "values[0]"}}}
		disk, paths := PlantTable(dense, 2, 1+rng.Int64N(5000), 1)
		raw := disk.OpenDataset(t, paths, opt)
		whole := opt
		whole.Missing, whole.LeaveOut = stream.MissingKeep, nil
		all := disk.OpenDataset(t, paths, whole)
		factor := func(string) float64 { return 1 }
		if opt.RowScale = scale; round%4 > 1 {
			opt.RowScale.Factor, factor = factorOfName, factorOfName
		}
		want, err := chunkiotest.CollectRows(raw, stream.Range{})
		formattest.Must(t, err)
		wholeRows, err := chunkiotest.CollectRows(all, stream.Range{})
		formattest.Must(t, err)
		want = scaledTwin(want, wholeRows, ColumnNames(raw), ColumnNames(all), scale, factor)
		ds := disk.OpenDataset(t, paths, opt)
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		if len(got.Rows) != len(want.Rows) {
			t.Fatalf("round %d: got %d rows, want %d", round, len(got.Rows), len(want.Rows))
		}
		for i, row := range want.Rows {
			for j, x := range row { // each rounds the norm, and three times
				y := got.Rows[i][j]
				if math.IsNaN(x) != math.IsNaN(y) || math.Abs(x-y) > 16*0x1p-52*math.Abs(x) {
					t.Fatalf("round %d, %d×%d, row %d, column %d: got %v, want %v", round, rows, d, i, j, y, x)
				}
			}
		}
		opt.Sparse = "ix,values"
		opt.LeaveOut = []stream.LeftOut{{Name: "values[0]"}, {Name: "other"}}
		other, paths := PlantTable(sparse, 3, 1+rng.Int64N(5000), 1)
		ds = other.OpenDataset(t, paths, opt)
		for _, memory := range []int64{ds.MinMemory(), 1 << 30} {
			opt.Memory, opt.Threads = memory, 1+rng.IntN(4)
			ds, err := ds.With(opt)
			formattest.Must(t, err)
			again, err := chunkiotest.CollectRows(ds, stream.Range{})
			formattest.Must(t, err)
			if diff := chunkiotest.DescribeDiff(again, got); diff != "" {
				t.Fatalf("round %d, sparse rows beside dense ones: %s", round, diff)
			}
		}
		disk.CheckClosed(t)
		other.CheckClosed(t)
	}
}

// TestNegativeInTotal: a row that is scaled to a total has no negative value. The error names the first one in the file,
// in dense and sparse rows, also after rows that were dropped, with any threads.
func TestNegativeInTotal(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 8))
	for round := range 12 {
		rows, d := 2000+rng.IntN(3000), 3+rng.IntN(5)
		sparse, dense := SparseTable(rng, rows, d, 0.01)
		first := rows
		for i := range rows {
			isWhole := true
			for j, x := range dense.List["values"][i] {
				dense.List["values"][i][j] = math.Abs(x)
				isWhole = isWhole && x-x == 0
			}
			for k, x := range sparse.List["values"][i] {
				sparse.List["values"][i][k] = math.Abs(x)
			}
			if isWhole && len(sparse.List["values"][i]) > 0 && i > 900 && rng.IntN(50) == 0 {
				first = min(first, i)
				k := rng.IntN(len(sparse.List["values"][i]))
				sparse.List["values"][i][k] = -7
				dense.List["values"][i][int(sparse.List["ix"][i][k])] = -7
			}
		}
		for form, table := range []*chunkiotest.FakeTable{dense, sparse} {
			opt := Options{Missing: stream.MissingDropRow, Threads: 1 + rng.IntN(3), RowScale: RowScale{Total: 1e4}}
			if form == 1 {
				opt.Sparse = "ix,values"
			}
			disk, paths := PlantTable(table, 1, 1+rng.Int64N(5000), 1)
			_, err := chunkiotest.CollectRows(disk.OpenDataset(t, paths, opt), stream.Range{})
			place, ok := errors.AsType[*stream.DataError](err)
			if !ok || place.Row != int64(first) || !strings.Contains(err.Error(), "-7 is negative") {
				t.Errorf("round %d, form %d: got error %v, want one about -7 in row %d", round, form, err, first)
			}
		}
	}
}
