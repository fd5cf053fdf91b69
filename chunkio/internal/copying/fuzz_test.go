package copying

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// FuzzApply copies all columns of a file: Parquet, or Arrow IPC. The copying reader hands pages of a damaged file to
// arrow's decoders, whose memory must stay within the limit, and which must neither panic nor wait for ever.
func FuzzApply(f *testing.F) {
	dir := f.TempDir()
	csv := filepath.Join(dir, "rows.csv")
	rows := "a,b,c,d\n" + strings.Repeat("1,x,2.5,true\n2,y,,false\n3,,1e9,true\n", 9)
	formattest.Must(f, os.WriteFile(csv, []byte(rows), 0o600))
	const limit = 32 << 20
	for _, form := range []Form{FormParquet, FormArrow} {
		out := filepath.Join(dir, "seed")
		_, err := ApplyColumns(f.Context(), []string{csv}, out, ApplyOptions{allColumns: true, Form: form, Threads: 1})
		formattest.Must(f, err)
		seed, err := os.ReadFile(out)
		formattest.Must(f, err)
		formattest.Must(f, os.Remove(out))
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		in := filepath.Join(t.TempDir(), "in")
		formattest.Must(t, os.WriteFile(in, file, 0o600))
		before := allocatedBytes()
		_, err := ApplyColumns(t.Context(), []string{in}, in+".parquet", ApplyOptions{allColumns: true, Threads: 1, Memory: limit})
		if n := allocatedBytes() - before; n > 4*limit+64*uint64(len(file)) {
			t.Errorf("%d MiB allocated for %d bytes, with %d MiB allowed: %v", n>>20, len(file), limit>>20, err)
		}
		if err != nil && !errors.As(err, new(*stream.DataError)) && !errors.As(err, new(*stream.UsageError)) && !errors.As(err, new(*stream.MemoryError)) {
			t.Errorf("applying damaged bytes: %T %v, want a DataError, UsageError or MemoryError", err, err)
		}
	})
}

// allocatedBytes is the number of bytes allocated so far.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
