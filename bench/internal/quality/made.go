package quality

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// madeTable is a generated table whose rows have classes, and whose columns are sums of hidden factors and noise.
// Every value is a hash of seed, column and row, as in package planted.
type madeTable struct {
	seed    uint64
	classes int
	factors []madeFactor
	columns []madeColumn
	names   []stream.Column
	order   []int // column j of the table is columns[order[j]]
}

// madeFactor is a hidden factor: √share times a number that depends on the row's class, plus √(1 − share) times a
// number that depends on the row. Both numbers have variance 1. If split is set, the number of a class is 1 or −1,
// depending on whether class and split have an even or odd number of common bits. Of 4 classes two have the number 1.
type madeFactor struct {
	share float64
	split int
}

// madeColumn is a column with the values offset + unit·(Σ weight·factor + noise·its own series). If chance is set, a
// value is the number of successes in three trials with the probability that chance has for the row's class. If flag is
// set, a value is 1 with probability flag.
type madeColumn struct {
	group        int // number of its group of redundant columns in the answer, from 1; 0 if the answer lacks it
	terms        []madeTerm
	noise        float64
	offset, unit float64 // a unit of 0 means 1
	chance       []float64
	flag         float64
}

type madeTerm struct {
	factor int
	weight float64
}

// Arguments of newSeries. Each stands for one random series of madeTable. Package planted uses other numbers, so that
// no two series are the same.
const (
	madeClass = 1<<41 + iota
	madeOrder
	madeCentre = 1 << 42
	madeFactors
	madeNoise = 1 << 43
)

func (t *madeTable) newSeries(n uint64) planted.Series { return planted.NewSeries(t.seed, n) }

func (t *madeTable) shuffleAndName() *madeTable {
	t.order = make([]int, len(t.columns))
	for j := range t.order {
		t.order[j] = j
	}
	order := t.newSeries(madeOrder)
	for i := len(t.order) - 1; i > 0; i-- {
		j := order.Bits(int64(i)) % uint64(i+1)
		t.order[i], t.order[j] = t.order[j], t.order[i]
	}
	for j := range t.order {
		t.names = append(t.names, stream.Column{Name: fmt.Sprintf("f%04d", j), Type: "float"})
	}
	return t
}

// Columns implements gen.Filler. It returns the columns of the table.
func (t *madeTable) Columns() []stream.Column { return t.names }

func (t *madeTable) Class(row int64) int {
	return int(t.newSeries(madeClass).Bits(row) % uint64(t.classes))
}

// FillColumn implements gen.Filler. It writes the values of column j from row `from` on to out.
func (t *madeTable) FillColumn(j int, from int64, out []float64) {
	j = t.order[j]
	c, series := t.columns[j], t.newSeries(madeNoise+uint64(j))
	for i := range out {
		row := from + int64(i)
		if c.chance != nil {
			out[i] = 0
			for trials, limit := series.Bits(row), uint64(c.chance[t.Class(row)]*(1<<21)); trials > 1; trials >>= 21 {
				if trials&(1<<21-1) < limit {
					out[i]++
				}
			}
			continue
		}
		if c.flag > 0 {
			if out[i] = 0; float64(series.Bits(row)>>11)*0x1p-53 < c.flag {
				out[i] = 1
			}
			continue
		}
		v := float64(c.noise * series.Normal(row))
		for _, term := range c.terms {
			v += float64(term.weight * t.factorValue(term.factor, row))
		}
		out[i] = c.offset + float64(cmp.Or(c.unit, 1)*v)
	}
}

func (t *madeTable) factorValue(f int, row int64) float64 {
	share, split := t.factors[f].share, t.factors[f].split
	v := float64(math.Sqrt(1-share) * t.newSeries(madeFactors+uint64(f)).Normal(row))
	switch {
	case split > 0:
		v += float64(math.Sqrt(share) * float64(1-2*(bits.OnesCount(uint(t.Class(row)&split))%2)))
	case share > 0:
		v += float64(math.Sqrt(share) * t.newSeries(madeCentre+uint64(f)).Normal(int64(t.Class(row))))
	}
	return v
}

func (t *madeTable) answerGroups() (groups [][]string) {
	for j, at := range t.order {
		if g := t.columns[at].group; g > 0 {
			for len(groups) < g {
				groups = append(groups, nil)
			}
			groups[g-1] = append(groups[g-1], t.names[j].Name)
		}
	}
	return groups
}

// madeKind is a generated set.
type madeKind struct {
	name     string
	about    string
	rows     int64
	unranked bool // choices are not ranked: the set has no structure, so that all are equal, or is a lake without classes
	lake     bool
	make     func() classedFiller
}

// classedFiller is a gen.Filler whose rows have classes. answerGroups may return nil.
type classedFiller interface {
	gen.Filler
	Class(row int64) int
	answerGroups() [][]string
}

func (k madeKind) writeSet(ctx context.Context, folder string) (dataset, error) {
	t := k.make()
	s := dataset{name: k.name, path: filepath.Join(folder, k.name+".parquet"), made: true, lake: k.lake, unranked: k.unranked, answer: t.answerGroups()}
	opt := chunkio.WriteOptions{Type: "float"}
	if !k.lake || !k.unranked {
		opt.LabelName, opt.Label = gen.LabelName, func(row int64) int32 { return int32(t.Class(row)) }
	}
	err := chunkio.WriteParquet(ctx, s.path, gen.NewTable(t, k.rows), opt)
	return s, err
}
