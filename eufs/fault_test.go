package eufs

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Faults of source and scratch come out as they are, and leave nothing behind.
func TestFaultsComeOutAndLeaveNothing(t *testing.T) {
	const n, d, k = 200, 8, 2
	x := grouped(n, d, k, 13)
	good := &rowsSource{x: x, heights: []int{50}}
	std := standardizer(t, good, gram.ScaleUnit)
	more := &rowsSource{x: grouped(n+1, d, k, 13), heights: []int{50}}
	fewer := &rowsSource{x: grouped(n-1, d, k, 13), heights: []int{50}}
	var data *stream.DataError
	var usage *stream.UsageError
	for _, again := range []bool{false, true} {
		for _, src := range []stream.Source{more, fewer} {
			if _, err := Prepare(t.Context(), src, std, Setup{Clusters: k, Scratch: files(t), Reread: again}); !errors.As(err, &data) || !strings.Contains(err.Error(), "must not change") {
				t.Errorf("other rows: got %v", err)
			}
		}
		bad := &rowsSource{x: x, heights: []int{50}, fail: 3}
		if _, err := Prepare(t.Context(), bad, std, Setup{Clusters: k, Scratch: files(t), Reread: again}); !errors.Is(err, errUnreadable) {
			t.Errorf("got %v, want the source's error", err)
		}
		weighted := &rowsSource{x: x, heights: []int{50}, weights: true}
		if _, err := Prepare(t.Context(), weighted, std, Setup{Clusters: k, Reread: again}); !errors.As(err, &usage) {
			t.Errorf("weights: got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		p, err := Prepare(ctx, good, std, Setup{Clusters: k, Scratch: files(t), Reread: again, blockRows: 20})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Solve(ctx, Options{Tol: -1, Progress: func(iteration int, _ float64) {
			if iteration == 2 {
				cancel()
			}
		}}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the cancellation", err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if _, err := Prepare(ctx, good, std, Setup{Clusters: k, Scratch: files(t), Reread: again}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the cancellation", err)
		}
	}
}

// failing is scratch in memory whose passes fail after so many records of a file.
type failing struct {
	stream.InMemory
	name  string
	after int
}

func (s *failing) Make(name string, total int64, record int) (stream.ScratchFile, error) {
	f, err := s.InMemory.Make(name, total, record)
	if name == s.name {
		return &failingFile{f, s.after}, err
	}
	return f, err
}

type failingFile struct {
	stream.ScratchFile
	left int
}

type failingPass struct {
	stream.ScratchPass
	f *failingFile
}

func (f *failingFile) Pass(mode stream.ScratchMode) stream.ScratchPass {
	return &failingPass{f.ScratchFile.Pass(mode), f}
}

func (p *failingPass) Next() ([]byte, error) {
	if p.f.left == 0 {
		return nil, syscall.ENOSPC
	}
	p.f.left--
	return p.ScratchPass.Next()
}

func TestScratchFaultsComeOut(t *testing.T) {
	const n, d, k = 100, 8, 2
	src := &rowsSource{x: grouped(n, d, k, 14), heights: []int{50}}
	std := standardizer(t, src, gram.ScaleUnit)
	// The passes over each file: preparing, two iterations, the end; of 4 records.
	for name, passes := range map[string]int{"the copy of the rows": 5 + 2 + 1, "the labels of the start": 3,
		"the anchor graph": 3 + 2*3, "M of the iteration": 2*2 + 1, "the state of the rows": 1 + 2*3 + 1} {
		for after := range passes*4 + 1 {
			s := Setup{Clusters: k, Graph: GraphAnchor, Anchors: 12, blockRows: 25, Scratch: &failing{name: name, after: after}}
			p, err := Prepare(t.Context(), src, std, s)
			if err == nil {
				_, err = p.Solve(t.Context(), Options{MaxIter: 2, Tol: -1, Beta: Weight{Value: 0.1}})
				if closed := p.Close(); closed != nil {
					t.Error(closed)
				}
			}
			if failed := errors.Is(err, syscall.ENOSPC); failed != (after < passes*4) {
				t.Fatalf("%s, after %d records of %d: got %v", name, after, passes*4, err)
			}
		}
	}
}
