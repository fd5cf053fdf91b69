package writer

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// zstdWindow is the number of bytes that an encoder looks back. It is the length of a data page. A longer page, which
// has few and large values, is encoded with several windows.
const zstdWindow = 1 << 20

// WorkerBytes is the additional memory of encoding one more column at the same time: 1.3 MB of zstd's hash tables, its
// history, which is a window and a block, and 0.5 MB of blocks. With zstd's default window the history would be 16 MB:
// in one of 150 runs of the command convert, two columns at once then needed 62 MiB of memory, more than the limit of
// 55 MiB.
const WorkerBytes = zstdWindow + 2<<20

// encoders holds the idle encoders, which all columns share. It holds at most as many as were used at once.
type encoders struct {
	sync.Mutex
	idle    []*zstd.Encoder
	maxIdle int  // limit on the number of idle encoders; 0: no limit
	short   bool // the pages are short
}

func newEncoder(short bool) (*zstd.Encoder, error) {
	level := zstd.SpeedDefault
	if short {
		level = zstd.SpeedFastest
	}
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithZeroFrames(true), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
}

// newEncoders creates one encoder immediately. If this succeeds, no later encoder can fail.
func newEncoders(short bool) (*encoders, error) {
	first, err := newEncoder(short)
	return &encoders{idle: []*zstd.Encoder{first}, short: short}, err
}

// appendFrame compresses a page and appends it to dst as a frame. An encoder that panics is not used again, because its
// state is unknown.
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
		enc, err := newEncoder(e.short)
		if err != nil {
			panic(err) // the first encoder had the same options
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
	e.dropSurplusEncoders()
}

func (e *encoders) dropSurplusEncoders() {
	if e.maxIdle > 0 && len(e.idle) > e.maxIdle {
		clear(e.idle[e.maxIdle:])
		e.idle = e.idle[:e.maxIdle]
	}
}

// ExpectShortPages makes the pages of a new file be compressed faster. Pages of a few hundred numbers become as short as
// by the usual level, whose hash tables are larger than the caches: on a .npy.gz of 256 rows × 100,000 columns, select
// took 12.1 s of cpu time with it, and 7.5 s without. Pages of thousands of numbers become 9 % longer.
func (w *File) ExpectShortPages() (err error) {
	w.encoders, err = newEncoders(true)
	return err
}

// SetWorkers sets the number of columns that are encoded at the same time from now on. Surplus encoders are dropped.
func (w *File) SetWorkers(n int) {
	if w.encoders == nil {
		return
	}
	w.encoders.Lock()
	defer w.encoders.Unlock()
	w.encoders.maxIdle = n
	w.encoders.dropSurplusEncoders()
}
