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
	"github.com/ufs-stream/ufs-stream/internal/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// madeTable is a table of classes of rows whose columns are mixtures of hidden factors with
// noise. Every value is a hash of seed, column and row, as in package planted.
type madeTable struct {
	seed    uint64
	classes int
	factors []madeFactor
	columns []madeColumn
	names   []stream.Column
	order   []int // column j of the table is columns[order[j]]
}

// madeFactor is √share of a number that the row's class has, and √(1 − share) of one of the
// row's own, both of variance 1. If split is set, the class's number is 1 or −1, as the number of
// bits is even or odd that class and split have in common: of 4 classes two have each.
type madeFactor struct {
	share float64
	split int
}

// madeColumn is offset + unit·(Σ weight·factor + noise·(a series of its own)), or if chance is set
// a count of three trials that succeed with the chance of the row's class, or if flag is set 1 with
// this chance and else 0.
type madeColumn struct {
	group        int // 0: not of the answer, else the number of its group of equals
	terms        []madeTerm
	noise        float64
	offset, unit float64 // a unit of 0 is 1
	chance       []float64
	flag         float64
}

type madeTerm struct {
	factor int
	weight float64
}

// Series numbers of made tables, apart from those of package planted.
const (
	madeClass = 1<<41 + iota
	madeOrder
	madeCentre = 1 << 42
	madeFactors
	madeNoise = 1 << 43
)

func (t *madeTable) series(n uint64) planted.Series { return planted.NewSeries(t.seed, n) }

// seal shuffles the columns and names them, so that neither tells a column's part.
func (t *madeTable) seal() *madeTable {
	t.order = make([]int, len(t.columns))
	for j := range t.order {
		t.order[j] = j
	}
	order := t.series(madeOrder)
	for i := len(t.order) - 1; i > 0; i-- {
		j := order.Bits(int64(i)) % uint64(i+1)
		t.order[i], t.order[j] = t.order[j], t.order[i]
	}
	for j := range t.order {
		t.names = append(t.names, stream.Column{Name: fmt.Sprintf("f%04d", j), Type: "float"})
	}
	return t
}

// Columns implements gen.Filler.
func (t *madeTable) Columns() []stream.Column { return t.names }

// Class is the class of a row.
func (t *madeTable) Class(row int64) int {
	return int(t.series(madeClass).Bits(row) % uint64(t.classes))
}

// Fill implements gen.Filler.
func (t *madeTable) Fill(j int, from int64, out []float64) {
	j = t.order[j]
	c, own := t.columns[j], t.series(madeNoise+uint64(j))
	for i := range out {
		row := from + int64(i)
		if c.chance != nil {
			out[i] = 0
			for trials, limit := own.Bits(row), uint64(c.chance[t.Class(row)]*(1<<21)); trials > 1; trials >>= 21 {
				if trials&(1<<21-1) < limit {
					out[i]++
				}
			}
			continue
		}
		if c.flag > 0 {
			if out[i] = 0; float64(own.Bits(row)>>11)*0x1p-53 < c.flag {
				out[i] = 1
			}
			continue
		}
		v := float64(c.noise * own.Normal(row))
		for _, term := range c.terms {
			v += float64(term.weight * t.factor(term.factor, row))
		}
		out[i] = c.offset + float64(cmp.Or(c.unit, 1)*v)
	}
}

// factor is the value of a factor for a row.
func (t *madeTable) factor(f int, row int64) float64 {
	share, split := t.factors[f].share, t.factors[f].split
	v := float64(math.Sqrt(1-share) * t.series(madeFactors+uint64(f)).Normal(row))
	switch {
	case split > 0:
		v += float64(math.Sqrt(share) * float64(1-2*(bits.OnesCount(uint(t.Class(row)&split))%2)))
	case share > 0:
		v += float64(math.Sqrt(share) * t.series(madeCentre+uint64(f)).Normal(int64(t.Class(row))))
	}
	return v
}

// answer are the names of the columns of each group.
func (t *madeTable) answer() (groups [][]string) {
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
	unranked bool // no structure: every choice is as good; of a lake: no classes
	lake     bool
	make     func() classed
}

// classed is a gen.Filler whose rows have classes, and whose answer is known or nil.
type classed interface {
	gen.Filler
	Class(row int64) int
	answer() [][]string
}

// write writes the set to the folder.
func (k madeKind) write(ctx context.Context, folder string) (dataset, error) {
	t := k.make()
	s := dataset{name: k.name, path: filepath.Join(folder, k.name+".parquet"), made: true, lake: k.lake, unranked: k.unranked, answer: t.answer()}
	opt := chunkio.WriteOptions{Type: "float"}
	if !k.lake || !k.unranked {
		opt.LabelName, opt.Label = gen.LabelName, func(row int64) int32 { return int32(t.Class(row)) }
	}
	err := chunkio.WriteParquet(ctx, s.path, gen.NewTable(t, k.rows), opt)
	return s, err
}
