package anchor

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// The binary form of Statistics, 8-byte little-endian words; equal states give equal
// bytes: "ufsanch1", m, K, D, rows, the anchors' digest (4 words), then D times column,
// centre, factor and fill, then Δ, ZᵀX by rows, and the upper triangle of ZᵀZ by rows.

const headWords = 5 + len(Digest{})/8

// WriteTo writes the binary form of s through a buffer of 64 KiB. It implements
// io.WriterTo.
func (s *Statistics) WriteTo(w io.Writer) (int64, error) {
	if s.broken != nil {
		return 0, s.broken
	}
	e := newWriter(w)
	f := &s.frame
	e.word(magic(statisticsMagic))
	e.int(int64(s.m))
	e.int(int64(s.k))
	e.int(int64(len(f.columns)))
	e.int(s.Rows)
	for b := s.digest[:]; len(b) > 0; b = b[8:] {
		e.word(binary.LittleEndian.Uint64(b))
	}
	for k, j := range f.columns {
		e.int(int64(j))
		e.floats([]float64{f.center[k], f.factor[k], f.fill[k]})
	}
	e.floats(s.delta)
	e.floats(s.zx)
	for i := range s.m {
		e.floats(s.zz[i*s.m+i : (i+1)*s.m])
	}
	return e.finish()
}

// ReadFrom replaces s's state by what WriteTo wrote and reads no further; it keeps s's
// Options, but for the number of neighbours. Where s has anchors they must be those of
// what is read, with their scaling and number of neighbours, else it fails with a
// *stream.UsageError; adding rows then gives the same bits as to the original. Without
// anchors anything is read that fits s's limit. s is unchanged on error.
func (s *Statistics) ReadFrom(r io.Reader) (int64, error) {
	d := &reader{r: r}
	got := s.decode(d)
	if d.err == nil {
		*s = *got
	}
	return d.n, d.err
}

func (s *Statistics) decode(r *reader) *Statistics {
	r.expect(int64(headWords))
	if r.word() != magic(statisticsMagic) {
		r.fail("no anchor statistics")
	}
	got := &Statistics{opt: s.opt, anchors: s.anchors, work: s.work}
	got.m = int(r.count("number of anchors", maxRows))
	got.k = int(r.count("number of neighbours", int64(got.m)))
	d := r.count("number of columns", maxColumns)
	got.Rows = r.count("rows", math.MaxInt64)
	for at := 0; at < len(got.digest); at += 8 {
		binary.LittleEndian.PutUint64(got.digest[at:], r.word())
	}
	if r.err == nil && (got.k < 1 || got.k >= got.m) {
		r.fail("%d neighbours of %d anchors", got.k, got.m)
	}
	got.frame = decodeFrame(r, d)
	if r.err == nil {
		r.err = s.continues(got)
	}
	if r.err != nil {
		return nil
	}
	got.opt.Neighbors = got.k
	// Δ comes before the matrices: by then D and m were no mere promise.
	r.expect(int64(got.m))
	var delta []float64
	for range got.m {
		v := r.float()
		if !(v >= 0 && v <= float64(got.Rows)*(1+0x1p-20)) {
			r.fail("weights of %g in %d rows", v, got.Rows)
		}
		if r.err != nil {
			return nil
		}
		delta = append(delta, v)
	}
	if r.err = got.reserve(); r.err != nil {
		return nil
	}
	copy(got.delta, delta)
	r.expect(int64(len(got.zx)) + int64(got.m)*int64(got.m+1)/2)
	r.floats(got.zx)
	for i := range got.m {
		r.floats(got.zz[i*got.m+i : (i+1)*got.m])
	}
	return got
}

func decodeFrame(r *reader, d int64) (f frame) {
	r.expect(4 * d)
	for range d {
		j := int(r.count("column", maxColumns-1))
		if n := len(f.columns); n > 0 && j <= f.columns[n-1] {
			r.fail("columns do not ascend")
		}
		var v [3]float64
		r.floats(v[:])
		if !isFinite(v[0]) || !isFinite(v[1]) || !isFinite(v[2]) || !(v[1] > 0) {
			r.fail("column %d has centre %g, factor %g, fill %g", j, v[0], v[1], v[2])
		}
		if r.err != nil {
			return frame{}
		}
		f.columns = append(f.columns, j)
		f.center, f.factor, f.fill = append(f.center, v[0]), append(f.factor, v[1]), append(f.fill, v[2])
	}
	return f
}

// continues fails unless got is of s's anchors, where s has any.
func (s *Statistics) continues(got *Statistics) error {
	if s.anchors == nil {
		return nil
	}
	const remedy = "the input or the options have changed since"
	if why := s.anchors.differs(&got.frame); why != "" {
		return stream.Usagef("statistics of other scaling (%s): %s", why, remedy)
	}
	if s.anchors.M != got.m || s.anchors.Digest != got.digest || s.k != got.k {
		return stream.Usagef("statistics of other anchors or neighbours (%d, %d nearest; want %d, %d): %s",
			got.m, got.k, s.anchors.M, s.k, remedy)
	}
	return nil
}

func isFinite(x float64) bool { return x-x == 0 }
