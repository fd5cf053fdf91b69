package scanning

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// The numbers in a row of a file of sums, in the order in which they are read.
const (
	totalRows = iota
	rowsOfBoth
	shiftX
	shiftY
	sumX
	sumY
	sumXY
	leastX
	greatestX
)

var numbersOfSums = []string{"total", "n", "shift_x", "shift_y", "sum_x", "sum_y", "sum_xy", "min_x", "max_x"}

// sumsFile is a file of sums of pairs of columns that another program made: see recipe.SumColumns.
type sumsFile struct {
	path  string // for messages
	names []string
	index map[string]int
	pairs map[[2]int][]float64
	input stream.Input
	total float64
	limit int64 // bytes for pairs
}

// ScanSums implements ufs.ScanSums: it makes a statistics file of the sums in a file.
func ScanSums(ctx context.Context, q request.Request, path string) (*result.Gathered, error) {
	switch {
	case !q.Input.IsEmpty():
		return nil, stream.Usagef("{from-sums} has the sums of all rows; give it or INPUT")
	case q.Output == "" || q.Output == "-":
		return nil, stream.Usagef("scan: no output given; add {o} FILE.ufs")
	}
	if err := request.FillLimits(&q); err != nil {
		return nil, err
	}
	end, err := budget.ApplyLimits(ctx, &q)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := cmp.Or(atomicfile.CheckNotInput(ctx, q.Output, path), atomicfile.CheckWritable(ctx, q.Output)); err != nil {
		return nil, err
	}
	f := &sumsFile{path: place.DisplayName(path), index: map[string]int{}, pairs: map[[2]int][]float64{}, limit: max(q.Limits.Memory-budget.ProgramBytes-q.Limits.Memory/4, 1)}
	if err := f.readPairs(ctx, &q, path); err != nil {
		return nil, err
	}
	profile, err := f.checkColumns()
	if err == nil {
		err = f.checkPairs(profile)
	}
	if err != nil {
		return nil, err
	}
	m, err := f.makeMoments(&q, profile)
	if err != nil {
		return nil, err
	}
	q.Columns.Missing, f.input.Rows = request.MissingMean, profile.Rows
	e := &statistics.Bundle{Profile: &m.Profile, Moments: m, Inputs: []stream.Input{f.input}, Covered: []stream.Range{{To: profile.Rows}}, Options: request.StatisticsShape(&q)}
	for _, name := range f.names {
		e.Columns = append(e.Columns, stream.Column{Name: name, Type: "double"})
	}
	e.Warnings = []stream.Text{stream.Textf("%s has sums that another program made, and no rows: methods that need rows refuse it", f.path)}
	if err := e.WriteStats(ctx, q.Output, q.Hooks.Spelling); err != nil {
		return nil, err
	}
	done := e.Summary(q.Hooks.Spelling, q.Hooks.Meter.Transfer())
	done.Warnings, done.Path = nil, place.DisplayName(q.Output)
	return done, nil
}

func (f *sumsFile) errAt(row int64, format string, args ...any) error {
	return &stream.DataError{Path: f.path, RowGroup: -1, Row: row, Err: stream.Errorf(format, args...), Remedy: stream.Textf("make it by the query of: ufs-stream matrix INPUT {format} sql")}
}

func (f *sumsFile) readPairs(ctx context.Context, q *request.Request, path string) error {
	opt := chunkio.Options{
		Columns: numbersOfSums, Numbers: numbersOfSums, Label: "x", Classes: true, Missing: stream.MissingKeep,
		Threads: q.Limits.Threads, Memory: q.Limits.Memory / 4, Anonymous: q.Input.Anonymous, Stdin: q.Input.Stdin, Meter: q.Hooks.Meter,
	}
	ds, err := settled.OpenDataset(ctx, []string{path}, opt)
	if err != nil {
		return stream.Errorf("%w; a file of sums has the columns x, y, %s", err, strings.Join(numbersOfSums, ", "))
	}
	defer ds.Close()
	f.input = ds.Inputs()[0]
	var order []int // the number in a file of sums of each column that is read
	for _, c := range ds.Columns() {
		order = append(order, slices.Index(numbersOfSums, c.Name))
	}
	var xs []int
	err = f.eachName(ctx, ds, func(_ *stream.Chunk, _, x int) error { xs = append(xs, x); return nil })
	if err != nil {
		return err
	}
	opt.Label = "y"
	other, err := ds.With(opt)
	if err != nil {
		return err
	}
	row := 0
	err = f.eachName(ctx, other, func(c *stream.Chunk, i, y int) error {
		x := xs[row]
		row++
		numbers := slices.Repeat([]float64{math.NaN()}, len(numbersOfSums)) // a column that is not of numbers is not read
		for k, at := range order {
			numbers[at] = c.Col(k)[i]
		}
		return f.addPair(int64(row-1), x, y, numbers)
	})
	return err
}

func (f *sumsFile) eachName(ctx context.Context, ds *chunkio.Dataset, use func(c *stream.Chunk, i, name int) error) error {
	for c, err := range ds.Chunks(ctx, stream.Range{}) {
		if err != nil {
			return err
		}
		classes := ds.Classes()
		for i, class := range c.Class {
			if class < 0 {
				return f.errAt(c.Position(i), "a pair lacks the name of a column")
			}
			name := classes[class]
			at, known := f.index[name]
			if !known {
				at = len(f.names)
				f.names, f.index[name] = append(f.names, name), at
			}
			if err := use(c, i, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *sumsFile) addPair(row int64, x, y int, s []float64) error {
	if s[rowsOfBoth] == 0 { // SQL's sums of no rows are null
		for k := range s {
			if s[k] != s[k] {
				s[k] = 0
			}
		}
	}
	for k, v := range s {
		if math.IsNaN(v) {
			return f.errAt(row, "%s and %s: %s is missing", f.names[x], f.names[y], numbersOfSums[k])
		}
	}
	total, n := s[totalRows], s[rowsOfBoth]
	if f.total == 0 {
		f.total = total
	}
	if !(total > 0 && total <= 1<<53 && total == math.Trunc(total)) || total != f.total || !(n >= 0 && n <= total) || n != math.Trunc(n) {
		return f.errAt(row, "%s and %s: n is %v of a total of %v rows, which must be whole numbers, and the total the same in all rows", f.names[x], f.names[y], n, total)
	}
	if x > y {
		x, y = y, x
		s[shiftX], s[shiftY], s[sumX], s[sumY] = s[shiftY], s[shiftX], s[sumY], s[sumX]
	}
	before, known := f.pairs[[2]int{x, y}]
	if known && !slices.Equal(before[rowsOfBoth:leastX], s[rowsOfBoth:leastX]) {
		return f.errAt(row, "%s and %s are there twice, with other sums: the matrix is not symmetric", f.names[x], f.names[y])
	}
	if need := pairBytes * int64(len(f.pairs)+1); need > f.limit {
		return &stream.MemoryError{What: "the sums in " + f.path, Need: need, Limit: f.limit, AtLeast: true}
	}
	f.pairs[[2]int{x, y}] = s
	return nil
}

func (f *sumsFile) checkColumns() (*gram.Profile, error) {
	p := gram.NewProfile(len(f.names))
	p.Rows = int64(f.total)
	for j, name := range f.names {
		s, known := f.pairs[[2]int{j, j}]
		c := &p.Columns[j]
		switch {
		case !known:
			return nil, f.errAt(-1, "%s has no row for itself, x = y", name)
		case s[shiftX] != s[shiftY] || s[sumX] != s[sumY] || s[leastX] > s[greatestX] || s[sumXY] < 0:
			return nil, f.errAt(-1, "%s: its own sums contradict each other", name)
		}
		c.Pilot, c.Min, c.Max = s[shiftX], s[leastX], s[greatestX]
	}
	if len(f.names) == 0 {
		return nil, f.errAt(-1, "there are no pairs")
	}
	return p, nil
}

func (f *sumsFile) checkPairs(p *gram.Profile) error {
	for i, x := range f.names {
		own := f.pairs[[2]int{i, i}]
		for j := i; j < len(f.names); j++ {
			s, known := f.pairs[[2]int{i, j}]
			other := f.pairs[[2]int{j, j}]
			if !known {
				return f.errAt(-1, "the pair %s, %s is missing", x, f.names[j])
			}
			n := s[rowsOfBoth]
			switch {
			case n > 0 && (s[shiftX] != p.Columns[i].Pilot || s[shiftY] != p.Columns[j].Pilot):
				return f.errAt(-1, "%s and %s: their shifts are not those of the columns", x, f.names[j])
			case n > min(own[rowsOfBoth], other[rowsOfBoth]) || n < own[rowsOfBoth]+other[rowsOfBoth]-f.total:
				return f.errAt(-1, "%s and %s: %v rows have both, and %v and %v of %v have one: this cannot be", x, f.names[j], n, own[rowsOfBoth], other[rowsOfBoth], f.total)
			case math.Abs(s[sumXY]) > (1+roundingOfSums)*math.Sqrt(own[sumXY])*math.Sqrt(other[sumXY]):
				return f.errAt(-1, "%s and %s: their sum of products is larger than their squares allow", x, f.names[j])
			}
		}
	}
	return nil
}

// pairBytes is the memory of a pair in a sumsFile, and of its name and numbers while it is read.
const pairBytes = 256

// roundingOfSums is the largest error of a correlation that counts as rounding. Databases add up in any order, without
// compensation.
const roundingOfSums = 1e-8

func (f *sumsFile) makeMoments(q *request.Request, p *gram.Profile) (*gram.Moments, error) {
	limit := q.Limits.Memory - budget.ProgramBytes
	const copies = 3 // moments, their copy and its factor
	limit = max((limit-pairBytes*int64(len(f.pairs)))/copies, 1)
	opt := gram.Options{Threads: q.Limits.Threads, Limit: limit}
	m, err := gram.MomentsOfSums(p, func(i, j int) gram.PairSums {
		s := f.pairs[[2]int{i, j}]
		return gram.PairSums{Rows: int64(s[rowsOfBoth]), X: s[sumX], Y: s[sumY], Both: s[sumXY]}
	}, opt)
	if err != nil {
		return nil, err
	}
	trial := gram.NewMoments(len(f.names), opt)
	if err := trial.Merge(m); err != nil {
		return nil, err
	}
	g, err := trial.Finish(make([]stream.Column, len(f.names)), gram.FinishOptions{Scale: gram.ScaleStandard})
	if err != nil {
		return nil, statistics.WithPlace(err, &statistics.Bundle{Path: f.path})
	}
	for j := range g.D {
		g.Sym[j*g.D+j] += roundingOfSums * g.Weight
	}
	if new(linalg.Cholesky).Factor(kernel.NewTeam(q.Limits.Threads), kernel.RowMajor(g.Sym, g.D, g.D, g.D)) != nil {
		return nil, f.errAt(-1, "no data have these sums: their covariances are not positive semidefinite")
	}
	return m, nil
}
