package relating

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

const npyFormat = "npy"

// MatrixFormats lists the values of MatrixRequest.Format.
func MatrixFormats() []string { return append(chunkio.FormatNames(), npyFormat) }

// matrixSink writes a pairTable in the form of the output.
type matrixSink struct {
	request *MatrixRequest
	isNPY   bool
	form    chunkio.Form
}

func newMatrixSink(o *MatrixRequest) (*matrixSink, error) {
	s := &matrixSink{request: o}
	ext := strings.ToLower(place.Ext(o.Output))
	isNamed := ext == "."+npyFormat
	s.isNPY = o.Format == npyFormat || o.Format == "" && isNamed
	switch {
	case s.isNPY && o.Pairs > 0:
		return nil, stream.Usagef("{pairs} have names, which a NumPy array of numbers has not; name the output %s", place.WithExt(o.Output, ".parquet"))
	case s.isNPY != isNamed && ext != "":
		return nil, stream.Usagef("{format} %s: the name %s says otherwise", o.Format, place.DisplayName(o.Output))
	case s.isNPY:
		return s, nil
	}
	var err error
	s.form, err = chunkio.OutputForm(o.Output, o.Format)
	return s, err
}

const (
	batchCells   = 1 << 20 // cells of a batch of rows, unless these would be fewer than leastBatch
	leastBatch   = 64
	leastGroup   = 1024    // of Parquet, whose footer has an entry for each column of a batch
	footerBytes  = 200     // of such an entry, at most
	batchPairs   = 1 << 16 // pairs that are written together
	pairBytes    = 3 * 64  // a pair in a batch, and while it is written
	scannedRows  = 16      // columns whose pairs are found together
	scannedBytes = 2 * 24  // a found pair, in a list that grows
)

func (s *matrixSink) batchRows(d int) int {
	least := leastBatch
	if s.form == chunkio.FormParquet && !s.isNPY {
		least = leastGroup
	}
	return min(max(batchCells/max(d, 1), least), max(d, 1))
}

func (s *matrixSink) memoryBytes(d int) int64 {
	if s.request.Pairs > 0 {
		return batchPairs*pairBytes + scannedRows*scannedBytes*int64(d)
	}
	rows, columns := int64(s.batchRows(d)), int64(d)+1
	groups := (int64(d) + rows - 1) / max(rows, 1)
	if s.isNPY || s.form != chunkio.FormParquet {
		groups = 1
	}
	return 3*8*rows*columns + footerBytes*groups*columns
}

func (s *matrixSink) writePairTable(ctx context.Context, t *pairTable, out *result.PairMatrix) error {
	switch {
	case s.request.Pairs > 0:
		return s.writePairs(ctx, t, out)
	case s.isNPY:
		return s.writeNPY(ctx, t)
	}
	return s.writeTable(ctx, t)
}

func (s *matrixSink) eachBatch(ctx context.Context, t *pairTable, write func(first, count int, value func(i, j int) float64) error) error {
	rows := s.batchRows(len(t.names))
	return t.visit(ctx, false, func(first, count int, pair func(i, j int) gram.Pair) error {
		value := func(i, j int) float64 { return s.request.matrixEntry(t, pair(i, j)) }
		for end := first + count; first < end; first += rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := write(first, min(rows, end-first), value); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *matrixSink) writeNPY(ctx context.Context, t *pairTable) error {
	d := len(t.names)
	f, err := atomicfile.Create(ctx, s.request.Output)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(chunkio.NPYHeader(d, d)); err != nil {
		return err
	}
	room := make([]byte, 8*d*s.batchRows(d))
	err = s.eachBatch(ctx, t, func(first, count int, value func(i, j int) float64) error {
		kernel.Each(s.request.Limits.Threads, count, func(i int) {
			for j := range d {
				binary.LittleEndian.PutUint64(room[8*(i*d+j):], math.Float64bits(value(first+i, j)))
			}
		})
		_, err := f.Write(room[:8*d*count])
		return err
	})
	if err != nil {
		return err
	}
	return f.Commit()
}

func (s *matrixSink) writeTable(ctx context.Context, t *pairTable) error {
	d := len(t.names)
	columns := []chunkio.TableColumn{{Name: freeName("name", t.names), Values: []string(nil)}}
	for _, name := range t.names {
		columns = append(columns, chunkio.TableColumn{Name: name, Values: []float64(nil)})
	}
	f, err := chunkio.CreateTable(ctx, s.request.Output, s.form, columns...)
	if err != nil {
		return err
	}
	defer f.Close()
	rows := s.batchRows(d)
	room := make([]float64, rows*d)
	err = s.eachBatch(ctx, t, func(first, count int, value func(i, j int) float64) error {
		columns[0].Values = t.names[first:][:count]
		kernel.Each(s.request.Limits.Threads, d, func(j int) {
			column := room[j*rows:][:count]
			for i := range column {
				column[i] = value(first+i, j)
			}
			columns[j+1].Values = column
		})
		return f.WriteRows(count, columns)
	})
	if err != nil {
		return err
	}
	return f.Commit()
}

func freeName(name string, taken []string) string {
	free := name
	for n := 2; slices.Contains(taken, free); n++ {
		free = name + "_" + strconv.Itoa(n)
	}
	return free
}

// roundingOfPairs is more than the rounding error of a correlation, so that copies have one of 1.
const roundingOfPairs = 1e-12

// strongPair is a pair of a list: columns i < j.
type strongPair struct {
	j    int
	r, n float64
}

func (s *matrixSink) writePairs(ctx context.Context, t *pairTable, out *result.PairMatrix) error {
	b := pairBatch{isWeighted: t.isWeighted, hasPValues: s.request.PValues}
	f, err := chunkio.CreateTable(ctx, s.request.Output, s.form, b.tableColumns()...)
	if err != nil {
		return err
	}
	defer f.Close()
	flush := func() error {
		out.Pairs += int64(len(b.a))
		err := f.WriteRows(len(b.a), b.tableColumns())
		b.removePairs()
		return err
	}
	d := len(t.names)
	err = t.visit(ctx, true, func(first, count int, pair func(i, j int) gram.Pair) error {
		var found [scannedRows][]strongPair
		for end := first + count; first < end; first += scannedRows {
			rows := min(scannedRows, end-first)
			kernel.Each(s.request.Limits.Threads, rows, func(k int) {
				found[k] = found[k][:0]
				for j := first + k + 1; j < d; j++ {
					p := pair(first+k, j)
					if r := p.PearsonCorrelation(); math.Abs(r) >= s.request.Pairs-roundingOfPairs {
						found[k] = append(found[k], strongPair{j, r, p.Weight})
					}
				}
			})
			for k, list := range found[:rows] {
				for _, p := range list {
					if b.appendPair(t.names[first+k], t.names[p.j], p); len(b.a) == batchPairs {
						if err := flush(); err != nil {
							return err
						}
					}
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return err
	}
	return f.Commit()
}

// pairBatch collects pairs as columns.
type pairBatch struct {
	isWeighted, hasPValues bool
	a, b                   []string
	r, weight, p           []float64
	n                      []int64
}

func (b *pairBatch) appendPair(first, second string, p strongPair) {
	b.a, b.b, b.r = append(b.a, first), append(b.b, second), append(b.r, p.r)
	b.weight, b.n = append(b.weight, p.n), append(b.n, int64(math.Round(p.n)))
	b.p = append(b.p, judge.CorrelationPValue(p.r, p.n))
}

func (b *pairBatch) removePairs() {
	b.a, b.b, b.r, b.weight, b.n, b.p = b.a[:0], b.b[:0], b.r[:0], b.weight[:0], b.n[:0], b.p[:0]
}

func (b *pairBatch) tableColumns() []chunkio.TableColumn {
	list := []chunkio.TableColumn{{Name: "a", Values: b.a}, {Name: "b", Values: b.b}, {Name: "r", Values: b.r}, {Name: "n", Values: b.n}}
	if b.isWeighted {
		list[3] = chunkio.TableColumn{Name: "weight", Values: b.weight}
	}
	if b.hasPValues {
		list = append(list, chunkio.TableColumn{Name: "p", Values: b.p})
	}
	return list
}
