package ufs_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// rowsOfPart is small: the work of a merge depends on columns alone.
const rowsOfPart = 256

// makeParts makes the parts of a plan in dir, where those of another run stay, and returns their
// size. Their states are real: of numbers below 16, four fifths of them 0, as coarse images have.
// There are 32 different ones; the headers are all different.
func makeParts(t testing.TB, dir string, parts, columns int) (size int64) {
	const kinds = 32
	made := make([][]byte, kinds)
	for i := range parts {
		path := filepath.Join(dir, fmt.Sprintf("part-%05d-of-%05d.ufs", i+1, parts))
		if fi, err := os.Stat(path); err == nil {
			size += fi.Size()
			continue
		}
		h := partHeader(i, parts, columns)
		if made[i%kinds] == nil {
			moments, spread := partStates(t, i%kinds, columns)
			must.Do(t, chunkio.WriteStats(t.Context(), path, h, chunkio.Section{Name: "profile", Body: &moments.Profile},
				chunkio.Section{Name: "moments", Body: moments}, chunkio.Section{Name: "histograms", Body: spread}))
			made[i%kinds] = must.Get(os.ReadFile(path))(t)
		}
		file := withHeader(t, made[i%kinds], h)
		must.Do(t, os.WriteFile(path, file, 0o600))
		size += int64(len(file))
	}
	return size
}

// partHeader is the header of a part that is one file of its own.
func partHeader(i, parts, columns int) chunkio.StatsHeader {
	h := chunkio.StatsHeader{
		Kind: "gram", Version: ufs.Release, Options: map[string]string{"missing": "error"},
		Part: &stream.Part{
			Plan: "0123456789abcdef", Of: parts, Shards: []stream.ShardRange{{From: i + 1, To: i + 1}},
			Whole: &stream.WholeOfParts{Files: parts, Rows: int64(parts) * rowsOfPart},
		},
		Inputs: []stream.Input{{Path: fmt.Sprintf("/lake/day=%05d/part.parquet", i), Rows: rowsOfPart, Bytes: 1 << 20, Fingerprint: fmt.Sprintf("%032x", i)}},
		Ranges: []stream.Range{{From: 0, To: rowsOfPart}},
	}
	for j := range columns {
		h.Columns = append(h.Columns, stream.Column{Name: fmt.Sprintf("pixel%05d", j), Type: "uint8"})
	}
	return h
}

// partStates are the states of rows of bytes.
func partStates(t testing.TB, seed, columns int) (*gram.Moments, *gram.Histograms) {
	c := &stream.Chunk{Rows: rowsOfPart, Block: rowsOfPart, Cols: columns, Stride: rowsOfPart, Data: make([]float64, rowsOfPart*columns)}
	values := planted.NewSeries(1, uint64(seed))
	for i := range c.Data {
		if bits := values.Bits(int64(i)); bits%5 == 0 {
			c.Data[i] = float64(bits >> 60)
		}
	}
	moments, spread := gram.NewMoments(columns, gram.Options{}), gram.NewHistograms(columns, 0)
	must.Do(t, moments.Add(c))
	must.Do(t, spread.Add(c))
	return moments, spread
}

// withHeader is a statistics file with another header: see the container's layout in package
// chunkio.
func withHeader(t testing.TB, file []byte, h chunkio.StatsHeader) []byte {
	const magicAndVersion = 12
	header := must.Get(json.Marshal(h))(t)
	old := magicAndVersion + 4 + int(binary.LittleEndian.Uint32(file[magicAndVersion:])) + 8
	out := append([]byte(nil), file[:magicAndVersion]...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(header)))
	out = append(out, header...)
	out = binary.LittleEndian.AppendUint64(out, xxhash.Sum64(header))
	out = append(out, file[old:len(file)-8]...)
	return binary.LittleEndian.AppendUint64(out, xxhash.Sum64(out))
}
