package anchor

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Magic words of the binary forms; the last character is the version.
const (
	samplerMagic    = "ufssamp1"
	thinMagic       = "ufsthin1"
	entriesMagic    = "ufssent1"
	statisticsMagic = "ufsanch2"
	// untrustedMagic opens the older binary form of statistics, without a Trust, which can still be read.
	untrustedMagic = "ufsanch1"
)

// Statistics and samples with more columns or rows than these are refused. Up to these numbers 64-bit byte counts
// cannot overflow. With larger numbers, m² or m·d values of 8 bytes would need petabytes.
const (
	maxColumns = 1 << 24
	maxRows    = MostSampled
)

// The binary form of Statistics consists of 8-byte little-endian words, and equal states have equal bytes. It begins
// with "ufsanch2", m, K, D, the number of rows, the anchors' digest (4 words) and the Trust's fields (6 words). For
// each of the D columns it has the column, its centre, factor and fill. Then come Δ, ZᵀX by rows, and the upper
// triangle of ZᵀZ by rows. The older form "ufsanch1" has no Trust.

const (
	headWords  = 4 + len(Digest{})/8 // words of the head after the magic word
	trustWords = 6
)

// WriteTo writes the binary form of s through a buffer of 64 KiB. It implements io.WriterTo.
func (s *Statistics) WriteTo(w io.Writer) (int64, error) {
	if s.brokenErr != nil {
		return 0, s.brokenErr
	}
	e := words.NewWriter(w)
	f := &s.frame
	if s.columns == nil {
		e.Word(words.MagicWord(statisticsMagic))
	} else {
		e.Word(words.MagicWord(thinMagic))
	}
	e.Int(int64(s.m))
	e.Int(int64(s.k))
	e.Int(int64(len(f.columns)))
	e.Int(s.Rows)
	for b := s.digest[:]; len(b) > 0; b = b[8:] {
		e.Word(binary.LittleEndian.Uint64(b))
	}
	t := &s.trust
	e.Int(int64(t.Features))
	e.Floats([]float64{t.Value, t.Chance})
	e.Int(int64(t.Few))
	e.Floats([]float64{t.FewValue, t.FewChance})
	for k, j := range f.columns {
		e.Int(int64(j))
		e.Floats([]float64{f.center[k], f.factor[k], f.fill[k]})
	}
	e.Floats(s.delta)
	if s.columns != nil {
		s.columns.encodeTo(e)
	}
	e.Floats(s.zx)
	for i := range s.m {
		e.Floats(s.zz[i*s.m+i : (i+1)*s.m])
	}
	return e.Finish()
}

// ReadFrom replaces the state of s by a state that WriteTo wrote, and reads nothing after it. It keeps the Options of s
// except the number of neighbours. If s has anchors, the state must have been made with the same anchors, scaling and
// number of neighbours; otherwise ReadFrom fails with a *stream.UsageError. Adding rows then gives the same bits as
// adding them to the original. If s has no anchors, it reads any state within its memory limit. s is unchanged on
// error.
func (s *Statistics) ReadFrom(r io.Reader) (int64, error) {
	return words.Replace(s, r, s.decodeLike)
}

func (s *Statistics) decodeLike(r *words.Reader) *Statistics {
	r.Expect(1)
	version := r.Word()
	switch thin := version == words.MagicWord(thinMagic); {
	case !thin && version != words.MagicWord(statisticsMagic) && version != words.MagicWord(untrustedMagic):
		r.Fail("no anchor statistics")
	case thin != (s.opt.Entries != nil):
		r.Fail("ZᵀX is stored in another form")
	}
	r.Expect(int64(headWords))
	got := &Statistics{opt: s.opt, anchors: s.anchors, work: s.work, weights: s.weights}
	got.m = int(r.Count("number of anchors", maxRows))
	got.k = int(r.Count("number of neighbours", int64(got.m)))
	d := r.Count("number of columns", maxColumns)
	got.Rows = r.Count("rows", words.MostRows)
	for at := 0; at < len(got.digest); at += 8 {
		binary.LittleEndian.PutUint64(got.digest[at:], r.Word())
	}
	if r.Err() == nil && (got.k < 1 || got.k >= got.m) {
		r.Fail("%d neighbours of %d anchors", got.k, got.m)
	}
	if version != words.MagicWord(untrustedMagic) {
		got.trust = decodeTrust(r, d)
	}
	got.frame = decodeFrame(r, d)
	if r.Err() == nil {
		r.Stop(s.checkSameAnchors(got))
	}
	if got.trust == (Trust{}) && s.anchors != nil { // the anchors are the same, and so is the trust
		got.trust = s.trust
	}
	if r.Err() != nil {
		return nil
	}
	got.opt.Neighbors = got.k
	// The diagonal Δ comes before the matrices. Once all of Δ could be read, the sizes D and m cannot be just numbers of a
	// damaged head.
	r.Expect(int64(got.m))
	var delta []float64
	for range got.m {
		v := r.Float()
		if !(v >= 0 && v <= float64(got.Rows)*(1+0x1p-20)) {
			r.Fail("weights of %g in %d rows", v, got.Rows)
		}
		if r.Err() != nil {
			return nil
		}
		delta = append(delta, v)
	}
	if r.Stop(got.allocateSums()); r.Err() != nil {
		return nil
	}
	copy(got.delta, delta)
	if got.columns != nil {
		got.columns.decodeFrom(r)
	}
	r.Expect(int64(len(got.zx)) + int64(got.m)*int64(got.m+1)/2)
	r.Floats(got.zx)
	for i := range got.m {
		r.Floats(got.zz[i*got.m+i : (i+1)*got.m])
	}
	return got
}

func decodeTrust(r *words.Reader, d int64) (t Trust) {
	r.Expect(trustWords)
	t.Features = int(r.Count("number of features chosen", d))
	t.Value, t.Chance = r.Float(), r.Float()
	t.Few = int(r.Count("number of features chosen first", d))
	t.FewValue, t.FewChance = r.Float(), r.Float()
	if t.Few > t.Features || (t.Few == 0) != (t.Features == 0) || t.Features == 0 && t != (Trust{}) {
		r.Fail("trust in %d features, the first %d of them", t.Features, t.Few)
	}
	for _, x := range []float64{t.Value, t.Chance, t.FewValue, t.FewChance} {
		if !isShare(x) {
			r.Fail("an alignment of %g", x)
		}
	}
	return t
}

func isShare(x float64) bool { return x >= 0 && x <= 1 && !math.Signbit(x) }

func decodeFrame(r *words.Reader, d int64) (f frame) {
	r.Expect(4 * d)
	for range d {
		j := int(r.Count("column", maxColumns-1))
		if n := len(f.columns); n > 0 && j <= f.columns[n-1] {
			r.Fail("columns do not ascend")
		}
		var v [3]float64
		r.Floats(v[:])
		if !isFinite(v[0]) || !isFinite(v[1]) || !isFinite(v[2]) || !(v[1] > 0) {
			r.Fail("column %d has centre %g, factor %g, fill %g", j, v[0], v[1], v[2])
		}
		if r.Err() != nil {
			return frame{}
		}
		f.columns = append(f.columns, j)
		f.center, f.factor, f.fill = append(f.center, v[0]), append(f.factor, v[1]), append(f.fill, v[2])
	}
	return f
}

func (s *Statistics) checkSameAnchors(got *Statistics) error {
	if s.anchors == nil {
		return nil
	}
	const remedy = "the input or the options have changed since"
	if why := s.anchors.difference(&got.frame); why != "" {
		return stream.Usagef("statistics of other scaling (%s): %s", why, remedy)
	}
	if s.anchors.M != got.m || s.anchors.Digest != got.digest || s.k != got.k {
		return stream.Usagef("statistics of other anchors or neighbours (%d, %d nearest; want %d, %d): %s",
			got.m, got.k, s.anchors.M, s.k, remedy)
	}
	return nil
}

func isFinite(x float64) bool { return x-x == 0 }
