// Package words reads and writes the binary form of mergeable states: little-endian words of 8 bytes, in a bounded
// buffer. Sizes are checked before memory is allocated for them. Every form begins with a word of 8 letters, of which
// the last is its version.
package words

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// ErrFormat is wrapped by every decoding error except the errors of the underlying reader.
var ErrFormat = errors.New("not a state of this kind and version")

// MostRows is the largest number of rows from which a mergeable state may be computed. A float64 represents all
// integers up to this number, and the sum of the rows of a thousand such states does not overflow.
const MostRows = 1 << 53

// MagicWord returns the first word of a form, which consists of 8 letters.
func MagicWord(letters string) uint64 { return binary.LittleEndian.Uint64([]byte(letters)) }

// wordsPerBuffer is the number of 8-byte words that are read or written at a time: 64 KiB.
const wordsPerBuffer = 8192

// Writer writes little-endian words through a bounded buffer. After an error it writes nothing more.
type Writer struct {
	w   io.Writer
	buf []byte
	n   int64
	err error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, buf: make([]byte, 0, 8*wordsPerBuffer)} }

// Word writes v.
func (w *Writer) Word(v uint64) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, v)
	if len(w.buf) == cap(w.buf) {
		w.flush()
	}
}

// Int writes v.
func (w *Writer) Int(v int64) { w.Word(uint64(v)) }

// Float writes v. It writes the same bits for every NaN, so that equal states have equal bytes.
func (w *Writer) Float(v float64) {
	if math.IsNaN(v) {
		v = math.NaN()
	}
	w.Word(math.Float64bits(v))
}

// Floats writes all numbers of v.
func (w *Writer) Floats(v []float64) {
	for _, x := range v {
		w.Float(x)
	}
}

func (w *Writer) flush() {
	if w.err == nil && len(w.buf) > 0 {
		var n int
		n, w.err = w.w.Write(w.buf)
		w.n += int64(n)
	}
	w.buf = w.buf[:0]
}

// Finish writes the buffered words. It returns the number of bytes written and the first error, as io.WriterTo does.
func (w *Writer) Finish() (int64, error) {
	w.flush()
	return w.n, w.err
}

// Reader reads the words that Writer writes. It reads only words that were announced by Expect, up to 64 KiB at a time.
// After an error every word is 0.
type Reader struct {
	r              io.Reader
	buf            [8 * wordsPerBuffer]byte
	pending        []byte // bytes read but not yet used
	announcedWords int64  // number of words announced and not yet read
	n              int64
	err            error
}

// Expect announces that this many further words follow.
func (r *Reader) Expect(words int64) { r.announcedWords += words }

// Magic reads the first word, and fails if it does not consist of these letters. The error names the kind of state.
func (r *Reader) Magic(letters, kind string) {
	if r.Expect(1); r.Word() != MagicWord(letters) {
		r.Fail("no %s", kind)
	}
}

// Word reads a word. It returns 0 after an error.
func (r *Reader) Word() uint64 {
	if r.err != nil {
		return 0
	}
	if len(r.pending) == 0 {
		words := min(r.announcedWords, wordsPerBuffer)
		r.announcedWords -= words
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

// Count reads an integer. It fails if the integer is not in [0, limit].
func (r *Reader) Count(what string, limit int64) int64 {
	v := r.Word()
	if v > uint64(limit) {
		r.Fail("%s is %d, at most %d is possible", what, v, limit)
		return 0
	}
	return int64(v)
}

// Float reads a number.
func (r *Reader) Float() float64 { return math.Float64frombits(r.Word()) }

// Floats fills dst, and decodes all buffered words together. When it decoded one word at a time, it took 5 % of the
// processor time of a merge of Gram matrices; now it takes less than 3 %.
func (r *Reader) Floats(dst []float64) {
	for len(dst) > 0 {
		dst[0], dst = r.Float(), dst[1:] // Float fills the buffer if it is empty
		if r.err != nil {
			clear(dst)
			return
		}
		n := min(len(dst), len(r.pending)/8)
		run := r.pending[:8*n]
		for i := range n {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(run[8*i:]))
		}
		r.pending, dst = r.pending[8*n:], dst[n:]
	}
}

// Fail sets the error of r to an error that wraps ErrFormat and has a reason, unless r already has an error.
func (r *Reader) Fail(format string, args ...any) {
	r.Stop(fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...)))
}

// NewReader returns a Reader from r.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Stop sets the error of r to err, after which every word is 0. If r already has an error, it keeps that.
func (r *Reader) Stop(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Finish returns the results of io.ReaderFrom: bytes read and the first error.
func (r *Reader) Finish() (int64, error) { return r.n, r.err }

// Replace replaces *state by the state that decode reads from r. It returns the results of io.ReaderFrom. On error
// *state is unchanged.
func Replace[T any](state *T, r io.Reader, decode func(*Reader) *T) (int64, error) {
	d := &Reader{r: r}
	if got := decode(d); d.err == nil {
		*state = *got
	}
	return d.Finish()
}
