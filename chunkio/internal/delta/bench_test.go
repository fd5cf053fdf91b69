package delta

import (
	"fmt"
	"testing"
)

// Reading is linear in the number of live files: ns/file stays the same.
func BenchmarkCommits(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmark(b, n, manyFiles(n, 100)) })
	}
}

func BenchmarkCheckpoint(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			h := newHistory(40, 1)
			rows := h.otherRows(0)
			for i := range n {
				p := fmt.Sprint(i % 100)
				rows = append(rows, row{"add": row{"path": fmt.Sprintf("p=%s/part-00000-%036d-c000.snappy.parquet", p, i), "size": i,
					"partitionValues": mapValue(map[string]*string{"p": &p}), "stats": stats(int64(i))}})
			}
			m := newFolder()
			m.files[fmt.Sprintf(logFolder+"%020d.checkpoint.parquet", 0)] = writeRows(b, checkpointFields(false), rows, 100_000)
			benchmark(b, n, m)
		})
	}
}

func benchmark(b *testing.B, n int, m *memoryFolder) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := Read(b.Context(), m, "shop/orders", Options{})
		if err != nil || len(s.Files) < n {
			b.Fatalf("reading the log: %v", err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/file")
}
