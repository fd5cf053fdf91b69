package store

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/store/storetest"
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

// An error that is about the store is marked so, one about an object is not.
func TestUnavailable(t *testing.T) {
	s := storetest.S3(t)
	p := storetest.NewProxy(t, s.Endpoint)
	c := client(nil)
	c.patience.tries = 2
	put(t, c, s.URLAt(p.URL, "a"), []byte("abc"))
	for status, want := range map[int]bool{
		http.StatusServiceUnavailable: true, http.StatusForbidden: true, http.StatusUnauthorized: true, http.StatusNotFound: false, http.StatusPreconditionFailed: false,
	} {
		p.Before(func(*http.Request) *http.Response { return storetest.Answer(status, "") })
		_, err := c.Stat(t.Context(), at(t, s.URLAt(p.URL, "a")))
		if err == nil || errors.Is(err, ErrUnavailable) != want {
			t.Errorf("HTTP %d: %v", status, err)
		}
	}
	p.Before(nil)
	s.Stop()
	if _, err := c.Stat(t.Context(), at(t, s.URL("a"))); !errors.Is(err, ErrUnavailable) {
		t.Errorf("stopped: %v", err)
	}
}
