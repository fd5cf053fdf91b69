// Package words writes and reads the binary form of mergeable states: little-endian words of 8 bytes, in a bounded
// buffer. Each kind of state has one function that passes its fields to a [Visitor], which either writes or reads them.
// Sizes are checked before memory is allocated for them. Every form begins with a word of 8 letters, of which the last
// is its version.
package words

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// ErrFormat is wrapped by every decoding error except the errors of the underlying reader.
var ErrFormat = errors.New("not a state of this kind and version")

// MostRows is the largest number of rows from which a mergeable state may be computed. A float64 represents all
// integers up to this number, and the sum of the rows of a thousand such states does not overflow.
const MostRows = 1 << 53

// MagicWord returns the first 8-byte word of a binary form, which consists of 8 letters.
func MagicWord(letters string) uint64 { return binary.LittleEndian.Uint64([]byte(letters)) }

// wordsPerBuffer is the number of 8-byte words that are read or written at a time: 64 KiB.
const wordsPerBuffer = 8192

// Visitor writes the words of a state, 8 bytes each, one after the other, or reads them into the state. It has a
// bounded buffer. When it writes, it changes no field of the state, and writes nothing more after an error. When it
// reads, every word after an error is 0.
type Visitor struct {
	w              io.Writer // nil if the visitor reads
	r              io.Reader
	buf            []byte // words not yet written, or words read
	pending        []byte // words of buf that were read but not yet used
	announcedWords int64  // number of words announced by Expect and not yet read into buf
	n              int64
	err            error
}

// NewReader returns a Visitor that reads from r.
func NewReader(r io.Reader) *Visitor { return &Visitor{r: r, buf: make([]byte, 8*wordsPerBuffer)} }

// WriteState writes the state that the function visits to w. It returns the results of io.WriterTo.
func WriteState(w io.Writer, visit func(*Visitor)) (int64, error) {
	v := &Visitor{w: w, buf: make([]byte, 0, 8*wordsPerBuffer)}
	visit(v)
	v.flushBuffer()
	return v.n, v.err
}

// ReadState reads the state that the function visits from r. It returns the results of io.ReaderFrom.
func ReadState(r io.Reader, visit func(*Visitor)) (int64, error) {
	v := NewReader(r)
	visit(v)
	return v.n, v.err
}

// ReplaceState replaces *state by the state that visit reads from r. It passes two states to visit: a new one, and as
// old the one that is replaced. (A function that writes a state passes the same state twice.) It returns the results of
// io.ReaderFrom. On error *state is unchanged.
func ReplaceState[T any](state *T, r io.Reader, visit func(got *T, v *Visitor, old *T)) (int64, error) {
	got := new(T)
	n, err := ReadState(r, func(v *Visitor) { visit(got, v, state) })
	if err == nil {
		*state = *got
	}
	return n, err
}

// Reads reports whether v reads.
func (v *Visitor) Reads() bool { return v.w == nil }

// Err returns the first error.
func (v *Visitor) Err() error { return v.err }

// Stop sets the error of v to err, unless v already has an error.
func (v *Visitor) Stop(err error) {
	if v.err == nil {
		v.err = err
	}
}

// Fail refuses the words read: it sets the error of v to an error that wraps ErrFormat and has a reason, unless v
// already has an error. If v writes, Fail has no effect.
func (v *Visitor) Fail(format string, args ...any) {
	if v.Reads() {
		v.Stop(fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...)))
	}
}

// Expect announces that at least this many further words follow. Up to 64 KiB of words that are announced are read at
// a time, the others one word at a time.
func (v *Visitor) Expect(words int) {
	v.announcedWords = max(v.announcedWords, int64(words-len(v.pending)/8))
}

func (v *Visitor) flushBuffer() {
	if v.err == nil && len(v.buf) > 0 {
		var n int
		n, v.err = v.w.Write(v.buf)
		v.n += int64(n)
	}
	v.buf = v.buf[:0]
}

func (v *Visitor) writeWord(word uint64) {
	v.buf = binary.LittleEndian.AppendUint64(v.buf, word)
	if len(v.buf) == cap(v.buf) {
		v.flushBuffer()
	}
}

func (v *Visitor) readWord() uint64 {
	if len(v.pending) == 0 && v.err == nil {
		v.fillBuffer()
	}
	if v.err != nil {
		return 0
	}
	word := binary.LittleEndian.Uint64(v.pending)
	v.pending = v.pending[8:]
	return word
}

func (v *Visitor) fillBuffer() {
	words := max(1, min(v.announcedWords, wordsPerBuffer))
	v.announcedWords = max(0, v.announcedWords-words)
	n, err := io.ReadFull(v.r, v.buf[:8*words])
	v.n += int64(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	v.pending, v.err = v.buf[:8*words], err
}

// Magic writes the first word, which consists of these letters, or reads and checks it. If other letters are read, the
// error names the kind of state.
func (v *Visitor) Magic(letters, kind string) {
	word := MagicWord(letters)
	if v.Word(&word); word != MagicWord(letters) {
		v.Fail("no %s", kind)
	}
}

// Word writes *p as a word of 8 bytes, or reads the next word into *p.
func (v *Visitor) Word(p *uint64) {
	if v.Reads() {
		*p = v.readWord()
	} else {
		v.writeWord(*p)
	}
}

// Bytes writes all bytes of b, whose number is a multiple of 8, or reads them into b.
func (v *Visitor) Bytes(b []byte) {
	for ; len(b) > 0; b = b[8:] {
		word := binary.LittleEndian.Uint64(b)
		if v.Word(&word); v.Reads() {
			binary.LittleEndian.PutUint64(b, word)
		}
	}
}

// An Integer is the type of a field that a word represents.
type Integer interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32
}

// Count writes *p, an integer, as a word, or reads it. If the integer read is not in [0, limit], v fails, with an error
// that begins with the second argument.
func Count[T, L Integer](v *Visitor, what string, p *T, limit L) {
	if !v.Reads() {
		v.writeWord(uint64(*p))
		return
	}
	word := v.readWord()
	if word > uint64(limit) {
		v.Fail("%s is %d, at most %d is possible", what, word, limit)
		word = 0
	}
	*p = T(word)
}

// Counts writes or reads all integers of list. Each integer read must be in [0, limit], as for Count.
func Counts[T, L Integer](v *Visitor, what string, list []T, limit L) {
	v.Expect(len(list))
	for i := range list {
		Count(v, what, &list[i], limit)
	}
}

// Ints writes or reads all integers of list, which may be negative.
func (v *Visitor) Ints(list []int64) {
	v.Expect(len(list))
	for i, n := range list {
		word := uint64(n)
		if v.Word(&word); v.Reads() {
			list[i] = int64(word)
		}
	}
}

// Length writes n, the length of a list, and returns it, or returns the length that it reads. If the length read is not
// in [0, limit], v fails.
func (v *Visitor) Length(what string, n, limit int) int {
	Count(v, what, &n, limit)
	return n
}

// Flag writes *p as the word 0 or 1, or reads it.
func (v *Visitor) Flag(what string, p *bool) {
	bit := 0
	if *p {
		bit = 1
	}
	if Count(v, what, &bit, 1); v.Reads() {
		*p = bit == 1
	}
}

// Float writes *p as a word, or reads it. It writes the same bits for every NaN, so that equal states have equal bytes.
func (v *Visitor) Float(p *float64) {
	switch {
	case v.Reads():
		*p = math.Float64frombits(v.readWord())
	case math.IsNaN(*p):
		v.writeWord(math.Float64bits(math.NaN()))
	default:
		v.writeWord(math.Float64bits(*p))
	}
}

// FloatFields writes the numbers in this order, or reads them.
func (v *Visitor) FloatFields(fields ...*float64) {
	for _, p := range fields {
		v.Float(p)
	}
}

// Floats writes all numbers of list, or reads them. It decodes all buffered words together. When it decoded one word at
// a time, it took 5 % of the processor time of a merge of Gram matrices; now it takes less than 3 %.
func (v *Visitor) Floats(list []float64) {
	v.Expect(len(list))
	for len(list) > 0 && v.err == nil {
		v.Float(&list[0]) // it fills the buffer if it is empty
		list = list[1:]
		if v.Reads() {
			n := min(len(list), len(v.pending)/8)
			run := v.pending[:8*n]
			for i := range n {
				list[i] = math.Float64frombits(binary.LittleEndian.Uint64(run[8*i:]))
			}
			v.pending, list = v.pending[8*n:], list[n:]
		}
	}
}

// UpperTriangle writes or reads the upper triangle of a, a matrix of n×n numbers, by rows.
func (v *Visitor) UpperTriangle(a []float64, n int) {
	v.Expect(n * (n + 1) / 2)
	for i := range n {
		v.Floats(a[i*n+i : (i+1)*n])
	}
}

// VisitElements calls visit, which must write or read an element, for each of the n elements of a list. If v reads, it
// starts from an empty list, and appends an element before each visit. So memory grows with the words read, and not
// with n, which may be the number of a damaged file.
func VisitElements[T any](v *Visitor, list *[]T, n int, visit func(i int, p *T)) {
	if v.Reads() {
		*list = nil
	}
	for i := 0; i < n && v.err == nil; i++ {
		if v.Reads() {
			*list = append(*list, *new(T))
		}
		visit(i, &(*list)[i])
	}
	if v.Reads() {
		*list = slices.Clip(*list)
	}
}
