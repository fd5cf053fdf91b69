package writer

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// TestWorkerBytes: the memory left over by pages that were encoded at once is within WorkerBytes for each, and is
// freed if fewer are to be encoded at once.
func TestWorkerBytes(t *testing.T) {
	const workers = 4
	page := make([]byte, zstdWindow+100) // of two windows
	r := rand.New(rand.NewPCG(1, 2))
	for i := range page {
		page[i] = byte(r.Uint32N(40))
	}
	unpack, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatalf("making the decoder: %v", err)
	}
	defer unpack.Close()
	first := make([]byte, 0, len(page))
	before := held()
	e, err := newEncoders(false)
	if err != nil {
		t.Fatalf("making the encoders: %v", err)
	}
	w := &File{encoders: e}
	first = e.appendFrame(page, first)
	all := make([]*zstd.Encoder, workers) // at work at the same time
	for i := range all {
		all[i] = e.takeEncoder()
	}
	for _, enc := range all {
		if got := enc.EncodeAll(page, nil); !bytes.Equal(got, first) {
			t.Error("another encoder, other bytes")
		}
		e.returnEncoder(enc)
	}
	clear(all)
	if got, err := unpack.DecodeAll(first, nil); err != nil || !bytes.Equal(got, page) {
		t.Errorf("a page of two windows is read back as %d bytes, %v", len(got), err)
	}
	for _, most := range []int{workers, 2, 1} {
		w.SetWorkers(most)
		if n := held() - before; n > int64(most)*WorkerBytes || len(e.idle) != most {
			t.Errorf("%d encoders for %d workers hold %d bytes, of %d", len(e.idle), most, n, most*WorkerBytes)
		}
	}
	var work sync.WaitGroup
	for range workers {
		work.Go(func() { e.appendFrame(page, nil) })
	}
	work.Wait()
	if len(e.idle) > 1 {
		t.Errorf("%d encoders wait, of 1", len(e.idle))
	}
}

// TestBrokenEncoder: an encoder that panicked is given to nobody else.
func TestBrokenEncoder(t *testing.T) {
	e := &encoders{idle: []*zstd.Encoder{nil}} // which panics
	page := []byte("a page")
	if err := format.Guard(func() error { e.appendFrame(page, nil); return nil }); err == nil || len(e.idle) > 0 {
		t.Fatalf("%v, and %d encoders wait", err, len(e.idle))
	}
	if got := e.appendFrame(page, nil); len(got) == 0 || len(e.idle) != 1 {
		t.Errorf("the next page has %d bytes, and %d encoders wait", len(got), len(e.idle))
	}
}
