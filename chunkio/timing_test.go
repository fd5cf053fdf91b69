package chunkio

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestBusy: reading, decoding and settling are measured for every format, and add up to at most the busy time of the
// decoders.
func TestBusy(t *testing.T) {
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(9, 9)), 20_000, 4, 0.01)
	dir := t.TempDir()
	arrow, parquet := filepath.Join(dir, "x.arrow"), filepath.Join(dir, "x.parquet")
	formattest.Must(t, os.WriteFile(arrow, chunkiotest.ArrowBytes(t, tab, 3000, true), 0o600))
	opt := Options{Missing: stream.MissingKeep}
	table, err := Open(t.Context(), []string{arrow}, opt)
	formattest.Must(t, err)
	formattest.Must(t, WriteParquet(t.Context(), parquet, table, WriteOptions{RowGroupRows: 3000}))
	for _, input := range []string{arrow, parquet, "-"} {
		opt.Meter = new(stream.Meter)
		opt.Missing = stream.MissingDropRow
		opt.Stdin = bytes.NewReader(chunkiotest.ArrowBytes(t, tab, 3000, false))
		ds, err := Open(t.Context(), []string{input}, opt)
		formattest.Must(t, err)
		if p := opt.Meter.Busy.Parts(); p != (stream.TimingParts{}) {
			t.Errorf("%s: opening counts as %+v", input, p)
		}
		_, err = chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		p, decoders := opt.Meter.Busy.Parts(), float64(opt.Meter.Decode.Load())/1e9
		if p.Read <= 0 || p.Decode <= 0 || p.Convert <= 0 || p != (stream.TimingParts{Read: p.Read, Decode: p.Decode, Convert: p.Convert}) {
			t.Errorf("%s: a pass counts as %+v, want reading, decoding and converting alone", input, p)
		}
		// Each is a whole number of nanoseconds; seconds round by 1e-16 of them.
		if sum := p.Read + p.Decode + p.Convert; sum > decoders*(1+1e-12) {
			t.Errorf("%s: the parts take %v s of %v", input, sum, decoders)
		}
	}
}
