package udfs

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/rowsparse"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Result is a ranking of all d features.
type Result struct {
	method.Descent // its scores are ‖wᵢ‖
	Warnings       []stream.Text
}

func (r *Result) addWarning(format string, args ...any) {
	r.Warnings = append(r.Warnings, stream.Textf(format, args...))
}

// Bytes bounds the memory of Select in addition to the n×d rows.
func Bytes(n int64, d int, opt Options) int64 {
	opt = opt.WithDefaults(n, d)
	return room.Measure(func(l *room.Layout) {
		l.Phase(func() { l.Add(rows.SearchBytes(n, d, opt.Neighbors, opt.Threads)) })
		scatter := 8*(3*n*n+n*int64(d)) + kernel.TeamBytes(d, int(n)) // U, its axes, L and LV
		if !rowsparse.IsWide(n, d) {
			l.Add(8 * int64(d) * int64(d)) // M
			scatter = room.Measure(func(l *room.Layout) { rowsparse.LayOutPanel(l, int(n), d) }) + kernel.TeamBytes(d, d)
		}
		l.Phase(func() {
			layOutPatches(l, int(n), opt.Neighbors+1)
			for range opt.Threads + 1 { // with garbage of a worker's previous patch
				layOutPatchScratch(l, opt.Neighbors+1, d)
				l.Add(kernel.TeamBytes(opt.Neighbors+1, opt.Neighbors+1))
			}
			l.Add(n*int64(16*opt.Neighbors+8) + scatter) // also the neighbours, and a copy of the first memberships
		})
		l.Add(rowsparse.SolverBytes(n, d, opt.Clusters))
	})
}

// Select ranks the features of the n×d rows of x, row-major, which it centres in place. The search for neighbours costs
// 2·n²·d flops in float32, M costs 2·n·d² flops, and an update of W costs about d³ flops. If there are at least twice
// as many features as rows, M is stored as a product of rows, and an update costs about n²·d flops.
//
// Errors are a *[stream.UsageError] for wrong options, a *[stream.DataError] for rows without neighbours or spread, the
// context's error, or an error that wraps an error of package linalg.
func Select(ctx context.Context, x []float64, n, d int, opt Options) (*Result, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(int64(n), d)
	if n < 2 || d < 1 {
		return nil, stream.Dataf("", "%d rows of %d features: neighbourhoods take two rows", n, d)
	}
	f, err := newScatterForm(ctx, kernel.NewTeam(opt.Threads), kernel.RowMajor(x[:n*d], n, d, d), opt, rowsparse.IsWide(int64(n), d))
	if err != nil {
		return nil, err
	}
	s := rowsparse.NewSolver(f, d, opt.Clusters, opt.Gamma)
	if s.IsZero() {
		return nil, stream.Dataf("", "every row equals its nearest ones: no feature separates them; raise {neighbors}")
	}
	return runUpdates(ctx, s, d, opt)
}

// newScatterForm computes M from the rows of x, which it centres in place. If wide is true, M is stored as a product.
func newScatterForm(ctx context.Context, team *kernel.Team, x kernel.Matrix[float64], opt Options, wide bool) (rowsparse.Matrix, error) {
	rows.CentreColumns(x)
	n, d := x.Rows, x.Cols
	near, err := rows.FindNearest(ctx, team, n, d, opt.Neighbors, rows.PartBytes(int64(n), d), rows.PassInMemory(x))
	if err != nil {
		return nil, err
	}
	p, err := newPatches(ctx, team.Threads(), x, near, opt.Neighbors, opt.Lambda)
	if err != nil {
		return nil, err
	}
	if wide {
		f, err := rowsparse.NewProduct(ctx, team, x, opt.Clusters)
		if err == nil {
			err = f.SetLaplacian(p.laplacianMatrix(n))
		}
		if err != nil {
			return nil, fmt.Errorf("udfs: %w", err)
		}
		return f, nil
	}
	m, err := p.scatterMatrix(ctx, team, x)
	if err != nil {
		return nil, fmt.Errorf("udfs: %w", err)
	}
	return rowsparse.NewFull(team, m, d, opt.Clusters), nil
}
