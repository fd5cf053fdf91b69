package chunkio

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A pass over a local array reads every byte of it about once, whether its rows are short or long: values that are side
// by side in the file are read together, although other workers decode other columns.
func TestPassesReadArraysOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	for _, shape := range [][2]int{{20_000, 5}, {2000, 64}, {100, 1500}, {8, 20_000}} {
		for _, fortran := range []bool{false, true} {
			x := chunkiotest.DecimalRows(shape[0], shape[1])
			data := npyArray(x, fortran)
			must.Do(t, os.WriteFile(path, data, 0o644))
			meter := new(stream.Meter)
			got := chunkiotest.BlocksOf(t, []string{path}, Options{Meter: meter, Threads: 4})
			if n := meter.Bytes.Load(); n > int64(len(data)) || n < int64(len(data))*9/10 {
				t.Errorf("%v in Fortran order %v: %d bytes read of a file of %d", shape, fortran, n, len(data))
			}
			if got != chunkiotest.BlocksOf(t, []string{"-"}, Options{Stdin: bytes.NewReader(chunkiotest.ZipText(t, npyArray(x, false)))}) {
				t.Errorf("%v in Fortran order %v: the blocks differ from the blocks of standard input", shape, fortran)
			}
		}
	}
}
