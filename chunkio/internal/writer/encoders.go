package writer

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// zstdWindow is how many bytes an encoder looks back, the length of a data page: a longer page, of few and large
// values, is encoded in several windows.
const zstdWindow = 1 << 20

// WorkerBytes is the additional memory of encoding one more column at the same time: 1.3 MB of zstd's hash tables,
// its history, which is a window and a block, and 0.5 MB of blocks. With zstd's default window the history is 16 MB:
// two columns at once took convert 62 of 55 MiB, once in 150 runs.
const WorkerBytes = zstdWindow + 2<<20

// encoders holds the idle encoders, shared by all columns: as many as have worked at once.
type encoders struct {
	sync.Mutex
	idle    []*zstd.Encoder
	maxIdle int // limit on idle encoders; 0: any number
}

func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
}

// newEncoders makes one encoder at once, so that no later one can fail because of its options.
func newEncoders() (*encoders, error) {
	first, err := newEncoder()
	return &encoders{idle: []*zstd.Encoder{first}}, err
}

// appendFrame appends a page to dst, as a frame. An encoder that panics is not used again: its state is unknown.
func (e *encoders) appendFrame(page, dst []byte) []byte {
	enc := e.takeEncoder()
	dst = enc.EncodeAll(page, dst)
	e.returnEncoder(enc)
	return dst
}

func (e *encoders) takeEncoder() *zstd.Encoder {
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

func (e *encoders) returnEncoder(enc *zstd.Encoder) {
	e.Lock()
	defer e.Unlock()
	e.idle = append(e.idle, enc)
	e.dropSurplus()
}

func (e *encoders) dropSurplus() {
	if e.maxIdle > 0 && len(e.idle) > e.maxIdle {
		clear(e.idle[e.maxIdle:])
		e.idle = e.idle[:e.maxIdle]
	}
}

// SetWorkers sets the number of columns that are encoded at once from now on: surplus encoders are dropped.
func (w *File) SetWorkers(n int) {
	if w.encoders == nil {
		return
	}
	w.encoders.Lock()
	defer w.encoders.Unlock()
	w.encoders.maxIdle = n
	w.encoders.dropSurplus()
}
