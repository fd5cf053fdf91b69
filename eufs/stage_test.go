package eufs

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/resume/resumetest"
)

// A run that was broken off goes on to the same bits, wherever that was.
func TestGoesOnToTheSameBits(t *testing.T) {
	const n, d, k = 75, 8, 2
	x := grouped(n, d, k, 21)
	for _, c := range []struct {
		kind  GraphKind
		start Start
		opt   Options
	}{
		{GraphAnchor, StartKMeans, Options{Beta: Weight{Value: 0.1}}},
		{GraphKNN, StartSoft, Options{Beta: Weight{Value: 0.1}, Float32: true}},
		{GraphNone, StartKMeans, Options{Method: HUFS, Tree: someTree(d)}},
	} {
		t.Run(fmt.Sprint(c.opt.Method, c.kind), func(t *testing.T) {
			c.opt.Alpha, c.opt.Mu, c.opt.MaxIter, c.opt.Tol, c.opt.Threads = Weight{Value: 0.02}, 0.5, 2, -1, 2
			type result struct {
				*Result
				passes int
			}
			resumetest.GoesOn(t, func(at resumetest.Place) (result, error) {
				src := serve(x, 30)
				std := standardizer(t, src, gram.ScaleUnit)
				src.Block = at.Block
				p, err := Prepare(t.Context(), src, std, Setup{Clusters: k, Start: c.start, Graph: c.kind, Anchors: 12, Seed: 3, Threads: 2,
					Scratch: at.Scratch, Stages: at.Stages, blockRows: 25})
				if err != nil {
					return result{}, err
				}
				r, err := p.Solve(t.Context(), c.opt)
				return result{r, p.Passes()}, errors.Join(err, p.Close())
			}, func(what string, got, want result) {
				if bits(t, what, got.Result, want.Result); got.passes != want.passes || got.Converged != want.Converged {
					t.Errorf("%s: %d passes, want %d", what, got.passes, want.passes)
				}
			})
		})
	}
}
