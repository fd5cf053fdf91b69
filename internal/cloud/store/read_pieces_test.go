package store

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Pieces are filled by one request, and where answers end early by as many as it takes.
func TestReadPieces(t *testing.T) {
	s := storetest.S3(t)
	p := storetest.NewProxy(t, s.Endpoint)
	content := noise(300_000, 9)
	meter := new(stream.Meter)
	c := client(meter)
	o := put(t, c, s.URLAt(p.URL, "a"), content)
	rng := rand.New(rand.NewPCG(3, 1))
	for i := range 60 {
		p.CutEach.Store(int64(i%2) * 2)
		var pieces []Piece
		for at := rng.IntN(1000); at < len(content)-50_000; at += rng.IntN(40_000) {
			n := rng.IntN(30_000)
			pieces = append(pieces, Piece{int64(at), make([]byte, n)})
			at += n
		}
		before := meter.Requests.Load()
		must.Do(t, c.ReadPieces(t.Context(), o, pieces))
		if n := meter.Requests.Load() - before; i%2 == 0 && n > 1 {
			t.Errorf("%d requests for %d pieces", n, len(pieces))
		}
		for _, piece := range pieces {
			if !bytes.Equal(piece.To, content[piece.At:piece.At+int64(len(piece.To))]) {
				t.Fatalf("round %d: other bytes at %d", i, piece.At)
			}
		}
	}
	p.CutEach.Store(0)
	for _, wrong := range [][]Piece{{{At: -1, To: make([]byte, 2)}}, {{At: 299_999, To: make([]byte, 2)}}, {{At: 5, To: make([]byte, 2)}, {At: 6, To: make([]byte, 2)}}} {
		if c.ReadPieces(t.Context(), o, wrong) == nil {
			t.Errorf("%v were read", wrong)
		}
	}
}
