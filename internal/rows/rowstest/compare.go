package rowstest

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// RelativeDistance returns the largest absolute difference of an entry of a and the same entry of b, divided by the
// largest absolute entry of b. It returns NaN if the lengths differ.
func RelativeDistance(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	off, size := 0.0, 0.0
	for i, v := range b {
		off, size = max(off, math.Abs(a[i]-v)), max(size, math.Abs(v))
	}
	if off == 0 {
		return 0
	}
	return off / size
}

// CheckRefusal fails the test unless err is a *stream.UsageError whose text contains all of the faults.
func CheckRefusal(t testing.TB, err error, faults ...string) {
	t.Helper()
	if usage := (*stream.UsageError)(nil); !errors.As(err, &usage) {
		t.Errorf("got %v, want a usage error that names %q", err, faults)
		return
	}
	for _, fault := range faults {
		if !strings.Contains(err.Error(), fault) {
			t.Errorf("%q does not name %q", err, fault)
		}
	}
}

// HeapBytes returns the number of bytes on the heap that are reachable.
func HeapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools of memory, such as gonum's, are empty only now
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Standardizer returns a standardizer for src. It computes the profile of src, and scales by it.
func Standardizer(t testing.TB, src stream.Source, scale gram.Scale, fill gram.Fill) *gram.Standardizer {
	t.Helper()
	profile := gram.NewProfile(len(src.Columns()))
	if err := stream.Fold(t.Context(), src, stream.FoldOptions{}, profile); err != nil {
		t.Fatalf("profiling the source: %v", err)
	}
	std, err := gram.NewStandardizer(profile, src.Columns(), scale, fill)
	if err != nil {
		t.Fatalf("making the standardizer: %v", err)
	}
	return std
}
