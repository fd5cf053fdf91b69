package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

func TestBadInput(t *testing.T) {
	x, _ := blobs(11, 9000, 3, 2, 1)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		x.Data[7003+2*9000] = bad
		for _, spherical := range []bool{false, true} {
			opt := Options{Clusters: 2, Spherical: spherical}
			_, err := KMeans(t.Context(), Matrix(x), opt)
			_, streamed := Refine(t.Context(), chunks(x, 1000), Matrix(take(x, []int{0, 1})), opt)
			for _, err := range []error{err, streamed} {
				if !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), "row 7004, column 3") {
					t.Errorf("%v in row 7004, column 3: %v", bad, err)
				}
			}
		}
	}
	x.Data[7003+2*9000] = 1e200
	if _, err := KMeans(t.Context(), Matrix(x), Options{Clusters: 2}); !errors.Is(err, ErrOverflow) {
		t.Errorf("a value of 1e200: got error %v, want ErrOverflow", err)
	}
	if _, err := KMeans(t.Context(), Matrix(x), Options{Clusters: 2, RandomStarts: true}); !errors.Is(err, ErrOverflow) {
		t.Errorf("a value of 1e200, random starts: got error %v, want ErrOverflow", err)
	}
	if _, err := Refine(t.Context(), chunks(x, 1000), Matrix(take(x, []int{0, 1})), Options{}); !errors.Is(err, ErrOverflow) {
		t.Errorf("1e200, streamed: %v", err)
	}
}

func TestUsageErrors(t *testing.T) {
	x, _ := blobs(12, 10, 2, 2, 1)
	var usage *stream.UsageError
	_, err := KMeans(t.Context(), Matrix(x), Options{Clusters: 11, Restarts: -1, MaxIter: -2, Tol: math.NaN(), Threads: -3})
	if !errors.As(err, &usage) {
		t.Fatalf("error %v, want one of usage", err)
	}
	for _, fault := range []string{"clusters = 11", "restarts = -1", "max-iter = -2", "tol = NaN", "threads = -3"} {
		if !strings.Contains(err.Error(), fault) {
			t.Errorf("%q does not name %q", err, fault)
		}
	}
	for _, opt := range []Options{{}, {Clusters: -1}} {
		if _, err := KMeans(t.Context(), Matrix(x), opt); !errors.As(err, &usage) {
			t.Errorf("KMeans with options %+v: got error %v, want a *stream.UsageError", opt, err)
		}
	}
	if _, err := KMeans(t.Context(), Matrix{}, Options{Clusters: 1}); !errors.As(err, &usage) {
		t.Errorf("no rows: %v", err)
	}
	for _, opt := range []Options{{Clusters: 3}, {Threads: -1}} {
		if _, err := Refine(t.Context(), chunks(x, 5), Matrix(take(x, []int{0, 1})), opt); !errors.As(err, &usage) {
			t.Errorf("Refine with options %+v: got error %v, want a *stream.UsageError", opt, err)
		}
	}
	if _, err := Refine(t.Context(), chunks(x, 5), Matrix{}, Options{}); !errors.As(err, &usage) {
		t.Errorf("no centres: %v", err)
	}
}

func TestCancelAndSourceErrors(t *testing.T) {
	x, _ := blobs(13, 100, 2, 2, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := KMeans(ctx, Matrix(x), Options{Clusters: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := fmt.Errorf("the disk is gone")
	rows := func(yield func(Matrix, error) bool) {
		_ = yield(Matrix(x), nil) && yield(Matrix{}, broken)
	}
	if _, err := Refine(t.Context(), rows, Matrix(take(x, []int{0, 1})), Options{}); !errors.Is(err, broken) {
		t.Errorf("broken source: %v", err)
	}
}
