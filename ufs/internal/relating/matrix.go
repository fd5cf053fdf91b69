package relating

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// The values of MatrixRequest.Of.
const (
	MatrixCorrelation = "correlation" // Pearson's
	MatrixCovariance  = "covariance"
	MatrixSpearman    = "spearman" // the correlation of ranks
)

// MatrixKinds lists the values of MatrixRequest.Of, the default first.
func MatrixKinds() []string { return []string{MatrixCorrelation, MatrixCovariance, MatrixSpearman} }

// MatrixRequest names the data whose pairs of columns are written (Inputs or Stats, as in Select) to the file or object
// Request.Output. Options of a method are ignored.
type MatrixRequest struct {
	request.Request
	Of     string // default: MatrixCorrelation
	Format string // parquet, arrow, csv or npy; default: by the ending of Output, else parquet
	// Pairs, if not 0, writes a list of the pairs of columns whose absolute correlation is at least this number, in place
	// of the matrix.
	Pairs float64
	// PValues adds the two-sided p-value of each pair to the list, or writes p-values in place of the correlations. They
	// are of a t test with n − 2 degrees of freedom.
	PValues bool
}

// pairTable has the sums of every pair of columns.
type pairTable struct {
	names      []string
	isWeighted bool
	// visit calls use for blocks of consecutive columns, in order, with a function for the pairs of a column i of the
	// block with a column j. If onlyLater is true, then j > i; otherwise j is any column.
	visit func(ctx context.Context, onlyLater bool, use func(first, count int, pair func(i, j int) gram.Pair) error) error
}

// WriteMatrix implements ufs.Matrix: it writes the matrix of the columns of the input, or of its statistics, or a list
// of pairs.
func WriteMatrix(ctx context.Context, o MatrixRequest) (*result.PairMatrix, error) {
	begin, q := time.Now(), o.Request
	sink, err := o.settleOutput(ctx)
	if err != nil {
		return nil, err
	}
	q.Choice.Method, q.Choice.Options, q.Choice.K, q.Choice.AutoK, q.Choice.Methods = methods.Fallback, nil, 1, false, nil
	q.Choice.Scale = ""
	if o.Of == MatrixSpearman {
		q.Choice.Scale = request.ScaleRank
	}
	end, err := budget.ApplyLimits(ctx, &q)
	if err != nil {
		return nil, err
	}
	defer end()
	fetched := q.Hooks.Meter.Transfer()
	reserved := func(d int) int64 { return sink.memoryBytes(d) }
	g := &gathering.Gatherer{TakesMidranks: true, Planner: o.newPlanner(reserved)}
	_, e, err := gatherCorrelations(ctx, q, false, reserved, g)
	if err != nil {
		return nil, gathering.BlameStats(&q, err)
	}
	defer e.Close()
	settled.NoteFilled(g.Run, settled.ListFilled(g.Run, e))
	out := &result.PairMatrix{Rows: e.Profile.Rows, Warnings: wording.SpellAll(e.Warnings, g.Run.Hooks.Spelling)}
	t, err := sink.newPairTable(g, e, out)
	if err == nil {
		err = sink.writePairTable(ctx, t, out)
	}
	if err != nil {
		return nil, gathering.BlameStats(&q, statistics.WithPlace(err, e))
	}
	out.Columns, out.Passes, out.Path = len(t.names), g.Passes, o.Output
	out.Transfer, out.Timing.Wall = q.Hooks.Meter.Transfer().Since(fetched), time.Since(begin).Seconds()
	out.Memory = stream.Memory{Limit: q.Limits.Memory, PeakRSS: budget.PeakMemory()}
	return out, nil
}

func (o *MatrixRequest) settleOutput(ctx context.Context) (*matrixSink, error) {
	if o.Of == "" {
		o.Of = MatrixCorrelation
	}
	switch {
	case !slices.Contains(MatrixKinds(), o.Of):
		return nil, stream.Usagef("{of} %s: want correlation, covariance or spearman", o.Of)
	case !(o.Pairs >= 0 && o.Pairs <= 1):
		return nil, stream.Usagef("{pairs} %v: want an absolute correlation above 0 and up to 1, as 0.9", o.Pairs)
	case o.Of == MatrixCovariance && (o.Pairs > 0 || o.PValues):
		return nil, stream.Usagef("{pairs} and {p-values} are of correlations; leave {of} covariance out")
	case o.PValues && o.Columns.Weight != "":
		return nil, stream.Usagef("{p-values}: a weighted correlation has no known number of independent rows; leave {weight} or {p-values} out")
	case o.Stats != "" && o.Of == MatrixSpearman:
		return nil, stream.Usagef("{of} spearman needs the rows, whose ranks %s does not hold; name the data itself", o.Stats)
	case o.Output == "" || o.Output == "-":
		return nil, stream.Usagef("matrix: the numbers go to a file, which appears whole or not at all; add {o} OUT.parquet")
	}
	s, err := newMatrixSink(o)
	if err == nil {
		err = atomicfile.CheckWritable(ctx, o.Output)
	}
	if err == nil {
		err = request.RefuseInputAsOutput(ctx, &o.Request)
	}
	return s, err
}

func (o *MatrixRequest) correlatesPairwise(missing string) bool {
	return missing == request.MissingPairwise && o.Of != MatrixCovariance
}

func (o *MatrixRequest) newPlanner(reserved func(d int) int64) planning.Planner {
	inMemory := planCorrelations(reserved)
	return func(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
		d, pairwise := len(ds.Columns()), o.correlatesPairwise(r.Columns.Missing)
		b, err := inMemory(r, ds)
		needsMoments := !ds.Replayable() || r.Columns.Missing == request.MissingPairwise && !pairwise
		if needsMoments || err == nil && !pairwise {
			return b, err
		}
		return planning.PlanRereading(r, ds, planning.RankBytes(r, ds, d), reserved(d)+gram.PairPanelBytes(d, leastPanelColumns*d, pairwise))
	}
}

// leastPanelColumns is the least number of columns whose products with all others one pass adds up. Fewer would not be
// worth reading the rows.
const leastPanelColumns = 16

func (s *matrixSink) newPairTable(g *gathering.Gatherer, e *statistics.Bundle, out *result.PairMatrix) (*pairTable, error) {
	o := s.request
	fill, missing := request.MissingFill(&g.Run.Request), g.Run.Columns.Missing
	lacks := e.HasMissing()
	t := &pairTable{isWeighted: e.Profile.Weight != float64(e.Profile.Rows)}
	switch {
	case o.PValues && t.isWeighted:
		return nil, stream.Usagef("{p-values}: the rows of %s are weighted, and a weighted correlation has no known number of independent rows", o.Stats)
	case o.correlatesPairwise(missing) && lacks && e.Moments != nil:
		return nil, stream.Usagef("{missing} pairwise: statistics and streams lack the spread of a column over the rows that another one has; name files of the data itself, or take {of} covariance")
	case o.Of == MatrixSpearman && missing == request.MissingPairwise && lacks:
		return nil, stream.Usagef("{of} spearman {missing} pairwise: each pair would have ranks of its own; use {missing} mean, zero or drop-row")
	case o.PValues && lacks && fill != gram.FillPairwise && e.Profile.Seen == e.Profile.Rows:
		out.Warnings = append(out.Warnings, stream.Textf("p-values count filled values as if they were observed; {missing} pairwise or drop-row does not").Spell(g.Run.Hooks.Spelling))
	}
	if e.IsRanked() && o.Stats != "" {
		out.Warnings = append(out.Warnings, stream.Textf("%s holds normal scores of ranks ({scale} rank), and the numbers are of these", o.Stats).Spell(g.Run.Hooks.Spelling))
	}
	scale := gram.ScaleStandard
	if o.Of == MatrixCovariance {
		scale = gram.ScaleCenter
	}
	var left []stream.LeftOut
	var columns []int
	if e.Moments != nil {
		weights := e.Moments.PairWeights()
		m, err := e.Moments.Finish(e.Columns, gram.FinishOptions{Scale: scale, Fill: fill, Plain: true})
		if err != nil {
			return nil, err
		}
		if e.TakesPart != nil {
			m.Keep(e.TakesPart)
		}
		left, columns, t.visit = m.LeftOut, m.Columns, visitGram(m, weights, fill == gram.FillPairwise)
		out.Warnings = append(out.Warnings, m.Warnings...)
	} else {
		std, err := gram.NewStandardizer(e.Profile, gram.Plain(e.Columns), scale, fill)
		if err != nil {
			return nil, err
		}
		if e.TakesPart != nil {
			std.Keep(e.TakesPart)
		}
		left, columns = std.LeftOut, std.Columns
		t.visit = visitPanels(g, e, std, fill == gram.FillPairwise && lacks, s.memoryBytes(len(columns)))
		out.Warnings = append(out.Warnings, std.Warnings...)
	}
	for _, j := range columns {
		t.names = append(t.names, e.Columns[j].Name)
	}
	for _, l := range left {
		out.Warnings = append(out.Warnings, "left out: "+l.Name+": "+l.Why)
	}
	return t, nil
}

func visitGram(m *gram.Gram, weights func(i, j int) float64, pairwise bool) func(context.Context, bool, func(int, int, func(i, j int) gram.Pair) error) error {
	pair := func(i, j int) gram.Pair {
		weight := m.Weight
		if pairwise {
			weight = weights(m.Columns[i], m.Columns[j])
		}
		share := weight / m.Weight // G is scaled up to all rows
		return gram.Pair{Weight: weight, Product: share * m.Sym[i*m.D+j], SquaresX: share * m.Sym[i*m.D+i], SquaresY: share * m.Sym[j*m.D+j]}
	}
	return func(_ context.Context, _ bool, use func(int, int, func(i, j int) gram.Pair) error) error {
		return use(0, m.D, pair)
	}
}

func visitPanels(g *gathering.Gatherer, e *statistics.Bundle, std *gram.Standardizer, pairwise bool, reserved int64) func(context.Context, bool, func(int, int, func(i, j int) gram.Pair) error) error {
	d := len(std.Columns)
	return func(ctx context.Context, onlyLater bool, use func(int, int, func(i, j int) gram.Pair) error) error {
		area := largestArea(d, e.Plan.Solver-reserved, pairwise)
		p := gram.NewPairPanel(std, area, pairwise, g.Run.Limits.Threads)
		blocks := firstsOfPanels(d, area, onlyLater)
		g.LeastPasses, g.MostPasses = g.Passes+len(blocks), g.Passes+len(blocks)
		for k, first := range blocks {
			end, from := d, 0
			if k+1 < len(blocks) {
				end = blocks[k+1]
			}
			if onlyLater {
				from = first
			}
			p.BeginPass(first, end-first, from)
			if err := g.RunPass(ctx, e.Source, "pairs", stream.FoldOptions{}, p); err != nil {
				return e.Plan.ErrForLimit(err)
			}
			p.EndPass()
			if err := use(first, end-first, p.SumsOfPair); err != nil {
				return err
			}
		}
		return nil
	}
}

func largestArea(d int, bytes int64, pairwise bool) int {
	fixed := gram.PairPanelBytes(d, 0, pairwise)
	each := gram.PairPanelBytes(d, 1, pairwise) - fixed
	return int(min(max((bytes-fixed)/each, leastPanelColumns*int64(d)), int64(d)*int64(d)))
}

func firstsOfPanels(d, area int, onlyLater bool) (first []int) {
	for at := 0; at < d; {
		first = append(first, at)
		width := d
		if onlyLater {
			width -= at
		}
		at += max(area/width, 1)
	}
	return first
}

func (o *MatrixRequest) matrixEntry(t *pairTable, p gram.Pair) float64 {
	switch {
	case o.PValues:
		return judge.CorrelationPValue(p.PearsonCorrelation(), p.Weight)
	case o.Of != MatrixCovariance:
		return p.PearsonCorrelation()
	}
	divisor := p.Weight
	if !t.isWeighted {
		divisor--
	}
	if !(divisor > 0) {
		return math.NaN()
	}
	return p.Product / divisor
}
