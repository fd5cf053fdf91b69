package eufs

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Errors of source and scratch are returned unchanged, and no scratch is left.
func TestFaultsComeOutAndLeaveNothing(t *testing.T) {
	const n, d, k = 200, 8, 2
	x := grouped(n, d, k, 13)
	good := serve(x, 50)
	std := standardizer(t, good, gram.ScaleUnit)
	more := serve(grouped(n+1, d, k, 13), 50)
	fewer := serve(grouped(n-1, d, k, 13), 50)
	var data *stream.DataError
	var usage *stream.UsageError
	for _, again := range []bool{false, true} {
		for _, src := range []stream.Source{more, fewer} {
			if _, err := Prepare(t.Context(), src, std, Setup{Clusters: k, Scratch: files(t), Reread: again}); !errors.As(err, &data) || !strings.Contains(err.Error(), "must not change") {
				t.Errorf("other rows: got %v", err)
			}
		}
		bad := serve(x, 50)
		bad.Block = func(_, block int) error {
			if block == 3 {
				return errUnreadable
			}
			return nil
		}
		if _, err := Prepare(t.Context(), bad, std, Setup{Clusters: k, Scratch: files(t), Reread: again}); !errors.Is(err, errUnreadable) {
			t.Errorf("got %v, want the source's error", err)
		}
		weighted := serve(x, 50)
		weighted.Weight = make([]float64, n)
		if _, err := Prepare(t.Context(), weighted, std, Setup{Clusters: k, Reread: again}); !errors.As(err, &usage) {
			t.Errorf("weights: got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		p := must.Get(Prepare(ctx, good, std, Setup{Clusters: k, Scratch: files(t), Reread: again, blockRows: 20}))(t)
		if _, err := p.Solve(ctx, Options{Tol: -1, Progress: func(iteration int, _ float64) {
			if iteration == 2 {
				cancel()
			}
		}}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the cancellation", err)
		}
		if err := p.Close(); err != nil {
			t.Errorf("closing after a cancelled run: %v", err)
		}
		if _, err := Prepare(ctx, good, std, Setup{Clusters: k, Scratch: files(t), Reread: again}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the cancellation", err)
		}
	}
}

var errUnreadable = errors.New("unreadable")

func TestScratchFaultsComeOut(t *testing.T) {
	const n, d, k = 100, 8, 2
	src := serve(grouped(n, d, k, 14), 50)
	std := standardizer(t, src, gram.ScaleUnit)
	// The passes over each file: preparing, two iterations, the end; of 4 records.
	for name, passes := range map[string]int{"the copy of the rows": 5 + 2 + 1, "the labels of the start": 3,
		"the anchor graph": 3 + 2*3, "M of the iteration": 2*2 + 1, "the state of the rows": 1 + 2*3 + 1} {
		for after := range passes*4 + 1 {
			left := after
			scratch := &rowstest.Scratch{Next: func(file string) error {
				if file != name {
					return nil
				}
				if left--; left < 0 {
					return syscall.ENOSPC
				}
				return nil
			}}
			s := Setup{Clusters: k, Graph: GraphAnchor, Anchors: 12, blockRows: 25, Scratch: scratch}
			p, err := Prepare(t.Context(), src, std, s)
			if err == nil {
				_, err = p.Solve(t.Context(), Options{MaxIter: 2, Tol: -1, Beta: Weight{Value: 0.1}})
				if closed := p.Close(); closed != nil {
					t.Errorf("closing after a fault: %v", closed)
				}
			}
			if scratch.Open != 0 {
				t.Fatalf("%s, after %d records: %d files are left open", name, after, scratch.Open)
			}
			if failed := errors.Is(err, syscall.ENOSPC); failed != (after < passes*4) {
				t.Fatalf("%s, after %d records of %d: got %v", name, after, passes*4, err)
			}
		}
	}
}
