package anchor

import (
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

// WriteTo writes the binary form of s through a buffer of 64 KiB. It implements io.WriterTo.
func (s *Statistics) WriteTo(w io.Writer) (int64, error) {
	if s.brokenErr != nil {
		return 0, s.brokenErr
	}
	return words.WriteState(w, func(v *words.Visitor) { s.encodeOrDecode(v, s) })
}

// ReadFrom replaces the state of s by a state that WriteTo wrote, and reads nothing after it. It keeps the Options of s
// except the number of neighbours. If s has anchors, the state must have been made with the same anchors, scaling and
// number of neighbours; otherwise ReadFrom fails with a *stream.UsageError. Adding rows then gives the same bits as
// adding them to the original. If s has no anchors, it reads any state within its memory limit. s is unchanged on
// error.
func (s *Statistics) ReadFrom(r io.Reader) (int64, error) {
	return words.ReplaceState(s, r, (*Statistics).encodeOrDecode)
}

func (s *Statistics) encodeOrDecode(v *words.Visitor, old *Statistics) {
	version := s.visitVersion(v, old.opt.Entries != nil)
	words.Count(v, "number of anchors", &s.m, maxRows)
	words.Count(v, "number of neighbours", &s.k, s.m)
	d := v.Length("number of columns", len(s.frame.columns), maxColumns)
	words.Count(v, "rows", &s.Rows, words.MostRows)
	v.Bytes(s.digest[:])
	if s.k < 1 || s.k >= s.m {
		v.Fail("%d neighbours of %d anchors", s.k, s.m)
	}
	if version != untrustedMagic {
		s.trust.encodeOrDecode(v, d)
	}
	s.frame.encodeOrDecode(v, d)
	if v.Reads() && v.Err() == nil {
		v.Stop(old.checkSameAnchors(s))
		s.opt, s.anchors, s.work, s.weights = old.opt, old.anchors, old.work, old.weights
		s.opt.Neighbors = s.k
		if s.trust == (Trust{}) && old.anchors != nil { // the anchors are the same, and so is the trust
			s.trust = old.trust
		}
	}
	// The diagonal Δ comes before the matrices. Once all of Δ could be read, the sizes D and m cannot be just numbers of a
	// damaged head.
	v.Expect(s.m)
	delta := s.delta
	words.VisitElements(v, &delta, s.m, func(_ int, x *float64) {
		if v.Float(x); !(*x >= 0 && *x <= float64(s.Rows)*(1+0x1p-20)) {
			v.Fail("weights of %g in %d rows", *x, s.Rows)
		}
	})
	if v.Reads() && v.Err() == nil {
		v.Stop(s.allocateSums())
		copy(s.delta, delta)
	}
	if v.Err() != nil {
		return
	}
	if s.columns != nil {
		s.columns.encodeOrDecode(v)
	}
	v.Floats(s.zx)
	v.UpperTriangle(s.zz, s.m)
}

func (s *Statistics) visitVersion(v *words.Visitor, thin bool) string {
	letters := []byte(statisticsMagic)
	if thin {
		copy(letters, thinMagic)
	}
	v.Bytes(letters)
	switch version := string(letters); {
	case version != thinMagic && version != statisticsMagic && version != untrustedMagic:
		v.Fail("no anchor statistics")
	case thin != (version == thinMagic):
		v.Fail("ZᵀX is stored in another form")
	}
	return string(letters)
}

func (t *Trust) encodeOrDecode(v *words.Visitor, d int) {
	words.Count(v, "number of features chosen", &t.Features, d)
	v.FloatFields(&t.Value, &t.Chance)
	words.Count(v, "number of features chosen first", &t.Few, d)
	v.FloatFields(&t.FewValue, &t.FewChance)
	if t.Few > t.Features || (t.Few == 0) != (t.Features == 0) || t.Features == 0 && *t != (Trust{}) {
		v.Fail("trust in %d features, the first %d of them", t.Features, t.Few)
	}
	for _, x := range []float64{t.Value, t.Chance, t.FewValue, t.FewChance} {
		if !isShare(x) {
			v.Fail("an alignment of %g", x)
		}
	}
}

func isShare(x float64) bool { return x >= 0 && x <= 1 && !math.Signbit(x) }

func (f *frame) encodeOrDecode(v *words.Visitor, d int) {
	v.Expect(4 * d)
	words.VisitElements(v, &f.columns, d, func(k int, j *int) {
		words.Count(v, "column", j, maxColumns-1)
		if k > 0 && *j <= f.columns[k-1] {
			v.Fail("columns do not ascend")
		}
		if v.Reads() {
			f.center, f.factor, f.fill = append(f.center, 0), append(f.factor, 0), append(f.fill, 0)
		}
		center, factor, fill := &f.center[k], &f.factor[k], &f.fill[k]
		v.FloatFields(center, factor, fill)
		if !isFinite(*center) || !isFinite(*factor) || !isFinite(*fill) || !(*factor > 0) {
			v.Fail("column %d has centre %g, factor %g, fill %g", *j, *center, *factor, *fill)
		}
	})
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
