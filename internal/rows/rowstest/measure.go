package rowstest

import (
	"runtime"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

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
