package writer

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// window is how far back an encoder looks, which is a data page: a longer one, of few and large values, is
// encoded in several windows.
const window = 1 << 20

// WorkerBytes is what encoding one more column at the same time takes besides the column: 1.3 MB of zstd's
// hash tables, its history, which is a window and a block, and 0.5 MB of blocks. With zstd's default window
// the history is 16 MB: two columns at once took convert 62 of 55 MiB, once in 150 runs.
const WorkerBytes = window + 2<<20

// encoders are as many as have been at work at once. Those that wait are shared by all columns.
type encoders struct {
	sync.Mutex
	idle []*zstd.Encoder
	most int // that wait; 0: any number
}

func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
}

// newEncoders has one encoder, so that no other fails for its options.
func newEncoders() (*encoders, error) {
	first, err := newEncoder()
	return &encoders{idle: []*zstd.Encoder{first}}, err
}

// encode appends a page to dst, as a frame. An encoder that panics is not used again: nobody knows what state it is in.
func (e *encoders) encode(page, dst []byte) []byte {
	enc := e.take()
	dst = enc.EncodeAll(page, dst)
	e.give(enc)
	return dst
}

func (e *encoders) take() *zstd.Encoder {
	e.Lock()
	defer e.Unlock()
	n := len(e.idle) - 1
	if n < 0 {
		enc, err := newEncoder()
		if err != nil {
			panic(err) // the first one had the same options
		}
		return enc
	}
	enc := e.idle[n]
	e.idle = e.idle[:n]
	return enc
}

func (e *encoders) give(enc *zstd.Encoder) {
	e.Lock()
	defer e.Unlock()
	e.idle = append(e.idle, enc)
	e.trim()
}

func (e *encoders) trim() {
	if e.most > 0 && len(e.idle) > e.most {
		clear(e.idle[e.most:])
		e.idle = e.idle[:e.most]
	}
}

// Workers says how many columns are encoded at once from now on: what more of them needed is let go.
func (w *File) Workers(n int) {
	if w.encoders == nil {
		return
	}
	w.encoders.Lock()
	defer w.encoders.Unlock()
	w.encoders.most = n
	w.encoders.trim()
}
