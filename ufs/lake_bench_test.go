package ufs_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// BenchmarkLake selects from files on disk and, in turns with that, from the same files in a
// real S3 server behind 0, 20 and 100 ms of latency. The files are those of the folder
// $UFS_LAKE (bench gen emnist makes some), or one of mnist70k. It reports each median time
// over the local one, and of the store the requests and MiB of a run.
func BenchmarkLake(b *testing.B) {
	s := storetest.S3(b)
	folder := os.Getenv("UFS_LAKE")
	var files []string
	if folder != "" {
		files = must.Get(filepath.Glob(filepath.Join(folder, "*.parquet")))(b)
	} else {
		files = []string{fixtures.DatasetPath(b, "mnist70k.parquet")}
	}
	must.Do(b, os.Mkdir(filepath.Join(s.Dir, "data"), 0o755))
	for _, from := range files {
		in := must.Get(os.Open(from))(b)
		out := must.Get(os.Create(filepath.Join(s.Dir, "data", filepath.Base(from))))(b)
		must.Get(io.Copy(out, in))(b)
		must.Do(b, in.Close())
		must.Do(b, out.Close())
	}
	proxy := storetest.NewProxy(b, s.Endpoint)
	latencies := []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond}
	times := make([][]float64, 1+len(latencies))
	var want *stream.Selection
	run := func(input string) *stream.Meter {
		meter := new(stream.Meter)
		got := must.Get(ufs.Select(b.Context(), ufs.Request{Input: ufs.Input{Paths: []string{input}}, Choice: ufs.Choice{K: 20}, Columns: ufs.Columns{Label: "label"}, Hooks: ufs.Hooks{Meter: meter}}))(b)
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got.Selected, want.Selected) {
			b.Fatalf("%s gives another selection", input)
		}
		return meter
	}
	for b.Loop() {
		start := time.Now()
		run(filepath.Join(s.Dir, "data"))
		times[0] = append(times[0], time.Since(start).Seconds())
		for i, latency := range latencies {
			proxy.Latency.Store(int64(latency))
			start := time.Now()
			meter := run(s.URLAt(proxy.URL, "data/"))
			times[i+1] = append(times[i+1], time.Since(start).Seconds())
			b.ReportMetric(float64(meter.Requests.Load()), "requests")
			b.ReportMetric(float64(meter.Fetched.Load())/(1<<20), "MiB")
		}
	}
	median := func(x []float64) float64 {
		slices.Sort(x)
		return x[len(x)/2]
	}
	local := median(times[0])
	b.ReportMetric(local, "local-s")
	for i, latency := range latencies {
		b.ReportMetric(median(times[i+1])/local, fmt.Sprintf("x-at-%dms", latency.Milliseconds()))
	}
}
