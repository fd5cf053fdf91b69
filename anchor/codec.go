package anchor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// errFormat is wrapped by every decoding error but those of the reader.
var errFormat = errors.New("anchor: not statistics of this version")

// The words that open the two forms; the last character is the version.
const (
	samplerMagic    = "ufssamp1"
	statisticsMagic = "ufsanch1"
)

// Numbers of columns, rows kept and anchors beyond these are refused: 64-bit byte
// counts cannot overflow below, and m² or m·d doubles would be petabytes.
const (
	maxColumns = 1 << 24
	maxRows    = 1 << 24
)

func magic(s string) uint64 { return binary.LittleEndian.Uint64([]byte(s)) }

// piece is the number of 8-byte words moved at a time: 64 KiB.
const piece = 8192

// writer writes little-endian words through one bounded buffer; errors stick.
type writer struct {
	w   io.Writer
	buf []byte
	n   int64
	err error
}

func newWriter(w io.Writer) *writer { return &writer{w: w, buf: make([]byte, 0, 8*piece)} }

func (w *writer) word(v uint64) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, v)
	if len(w.buf) == cap(w.buf) {
		w.flush()
	}
}

func (w *writer) int(v int64) { w.word(uint64(v)) }

// float writes v; every NaN becomes the same one, so that equal states are equal bytes.
func (w *writer) float(v float64) {
	if math.IsNaN(v) {
		v = math.NaN()
	}
	w.word(math.Float64bits(v))
}

func (w *writer) floats(v []float64) {
	for _, x := range v {
		w.float(x)
	}
}

func (w *writer) flush() {
	if w.err == nil && len(w.buf) > 0 {
		var n int
		n, w.err = w.w.Write(w.buf)
		w.n += int64(n)
	}
	w.buf = w.buf[:0]
}

// finish flushes and returns what io.WriterTo asks for.
func (w *writer) finish() (int64, error) {
	w.flush()
	return w.n, w.err
}

// reader is the inverse of writer. Words announced by expect are read 64 KiB at a
// time, and none beyond; after an error every word is 0.
type reader struct {
	r       io.Reader
	buf     [8 * piece]byte
	pending []byte // read, not yet taken
	ahead   int64  // words announced and not yet read
	n       int64
	err     error
}

func (r *reader) expect(words int64) { r.ahead += words }

func (r *reader) word() uint64 {
	if r.err != nil {
		return 0
	}
	if len(r.pending) == 0 {
		words := min(r.ahead, piece)
		r.ahead -= words
		var n int
		n, r.err = io.ReadFull(r.r, r.buf[:8*words])
		r.n += int64(n)
		if r.err != nil {
			if errors.Is(r.err, io.EOF) {
				r.err = io.ErrUnexpectedEOF
			}
			return 0
		}
		r.pending = r.buf[:8*words]
	}
	v := binary.LittleEndian.Uint64(r.pending)
	r.pending = r.pending[8:]
	return v
}

// count reads a number in [0, limit].
func (r *reader) count(what string, limit int64) int64 {
	v := r.word()
	if v > uint64(limit) {
		r.fail("%s is %d, at most %d is possible", what, v, limit)
		return 0
	}
	return int64(v)
}

func (r *reader) float() float64 { return math.Float64frombits(r.word()) }

func (r *reader) floats(dst []float64) {
	for i := range dst {
		dst[i] = r.float()
	}
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", errFormat, fmt.Sprintf(format, args...))
	}
}
