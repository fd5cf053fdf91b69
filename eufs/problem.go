package eufs

import (
	"context"
	"errors"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Problem holds loaded rows, their graph, and the start, which do not depend on the penalties. Several calls of Solve
// may run at the same time.
type Problem struct {
	// AlphaMax is max_j ‖Σ_i (x_ij/‖x_i‖)·u_i‖, about √(n/d), with the rows x_i of X and u_i of U. If the row sparsity has
	// this weight or more, V becomes 0 and stays 0.
	AlphaMax float64

	t           *table
	setup       Setup
	start       *startSource
	graph       *graph    // nil if there is no graph
	v           []float64 // d×k: XᵀU, the best V for the first U
	anchorCount int       // number of anchors

	inspectRun func(*solver) // hook of tests, called at the end of a run, before its files are discarded
}

// Prepare reads the rows of src, standardized by std, and makes the start of Solve. It makes one pass over the source,
// and one more for every wider type if values do not fit the narrower one, and four to seven passes over the copy. It
// fails with a *stream.UsageError for a setup that does not fit, with a *stream.DataError for input that differs from
// its profile, and with the errors of source, scratch and context.
//
// The caller closes the problem.
func Prepare(ctx context.Context, src stream.Source, std *gram.Standardizer, s Setup) (*Problem, error) {
	if err := s.Validate(std.Rows, len(std.Columns)); err != nil {
		return nil, err
	}
	s = s.withDefaults(std.Rows)
	if err := s.Scratch.Reserve(s.ownScratch(std)); err != nil {
		return nil, err
	}
	p := &Problem{t: newTable(src, std, s), setup: s}
	stage := stream.StageOf(s.Stages, "rows", s.Scratch)
	if err := p.loadOrPrepare(ctx, stage, src, std); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Problem) loadOrPrepare(ctx context.Context, stage stream.Stage, src stream.Source, std *gram.Standardizer) error {
	var saved problemState
	if progress, err := stage.Load(ctx, saved.pointersToFields()...); err != nil || progress != stream.StageNew {
		return errors.Join(err, p.restoreFrom(stage, &saved))
	}
	s := p.setup
	s.Scratch = stage
	if !s.Reread {
		if err := p.t.loadCopy(ctx, stage); err != nil {
			return err
		}
	}
	if err := p.makeStartAndGraph(ctx, s); err != nil {
		return err
	}
	return stage.Save(ctx, 0, p.currentState().pointersToFields()...)
}

// ownScratch returns the least scratch space, in bytes, for the problem's own files. It counts one byte for each value
// of X, although X may need a wider type. Callers that know the options of the later run reserve all of [Needs] first.
func (s Setup) ownScratch(std *gram.Standardizer) int64 {
	shape := newLayout(std.Rows, len(std.Columns), s.Clusters, s.blockRows)
	perRow, _, _ := s.scratchBytesPerRow(shape, 1, Options{})
	return std.Rows * perRow
}

func (p *Problem) makeStartAndGraph(ctx context.Context, s Setup) (err error) {
	t := p.t
	team := kernel.NewTeam(s.Threads)
	if s.Graph == GraphAnchor {
		if p.anchorCount, err = anchor.Count(s.Anchors, t.n, s.Neighbors); err != nil {
			return err
		}
	}
	var sample rowSample
	if s.Start != StartGiven || s.Graph == GraphAnchor {
		if sample, err = t.sampleRows(ctx, sampledRowCount(t.n, t.d, t.k, p.anchorCount), s.Seed); err != nil {
			return err
		}
	}
	if p.start, err = newStartSource(ctx, t, s, sample); err != nil {
		return err
	}
	switch s.Graph {
	case GraphKNN:
		p.graph, err = newNeighbourGraph(ctx, t, team, s.Neighbors, s.Sigma)
	case GraphAnchor:
		p.graph, err = newAnchorGraph(ctx, t, team, s, sample, p.anchorCount)
	}
	if err != nil {
		return err
	}
	return p.computeFirstV(ctx)
}

func layOutFirstV(l *room.Layout, threads int, shape layout) (v, along *sumsByLane, pool *workerPool) {
	return newSumsByLane(l, shape), newSumsByLane(l, shape), newWorkerPool(l, threads, shape)
}

func (p *Problem) computeFirstV(ctx context.Context) error {
	t := p.t
	v, along, pool := layOutFirstV(nil, p.setup.Threads, t.layout)
	err := t.eachRecord(ctx, func(b int, rec [][]byte) error {
		pool.eachStrip(t.rowsOfBlock(b), func(w *passWorker, lane, from, h int) {
			t.rowsTo(w.x, rec[0], from, h)
			x, u := kernel.RowMajor(w.x, h, t.d, t.d), kernel.RowMajor(w.lu, h, t.k, t.k)
			p.start.writeStartRows(w.lu, b, rec[1], from, h)
			kernel.Gemm(w.team, 1, x.Trans(), u, v.matrixOfLane(lane))
			for i := range h {
				row := w.x[i*t.d:][:t.d]
				norm := math.Sqrt(kernel.Dot(row, row))
				if norm == 0 {
					norm = 1
				}
				for c := range t.k {
					w.lu[i*t.k+c] /= norm
				}
			}
			kernel.Gemm(w.team, 1, x.Trans(), u, along.matrixOfLane(lane))
		})
		return nil
	}, rows.ReadPass(p.start.labelFile()))
	p.v = v.sumMatrices()
	for _, norm := range linalg.RowNorms(along.sumMatrices(), t.k) {
		p.AlphaMax = max(p.AlphaMax, norm)
	}
	return err
}

// Close discards the scratch.
func (p *Problem) Close() error {
	return rows.CloseFiles(p.t.file, p.start.labelFile(), p.graph.anchorFile())
}

// Passes returns the number of passes over the source so far.
func (p *Problem) Passes() int { return int(p.t.passes.Load()) }

// Graph returns the kind of the graph of the rows, and the number of its anchors, which is 0 for other kinds.
func (p *Problem) Graph() (kind GraphKind, anchors int) { return p.setup.Graph, p.anchorCount }
