package anchor

import (
	"io"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Magic words, with which the binary forms begin. The last character is the version of the form.
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

func (s *Statistics) encodeOrDecode(visitor *words.Visitor, replaced *Statistics) {
	version := s.visitMagicOfVersion(visitor, replaced.opt.Entries != nil)
	words.Count(visitor, "number of anchors", &s.m, maxRows)
	words.Count(visitor, "number of neighbours", &s.k, s.m)
	d := visitor.Length("number of columns", len(s.frame.columns), maxColumns)
	words.Count(visitor, "rows", &s.Rows, words.MostRows)
	visitor.Bytes(s.digest[:])
	if s.k < 1 || s.k >= s.m {
		visitor.Fail("%d neighbours of %d anchors", s.k, s.m)
	}
	if version != untrustedMagic {
		s.trust.encodeOrDecode(visitor, d)
	}
	s.frame.encodeOrDecode(visitor, d)
	if visitor.Reads() && visitor.Err() == nil {
		visitor.Stop(replaced.checkSameAnchors(s))
		s.opt, s.anchors, s.work, s.weights = replaced.opt, replaced.anchors, replaced.work, replaced.weights
		s.opt.Neighbors = s.k
		if s.trust == (Trust{}) && replaced.anchors != nil { // the anchors are the same, and so is the trust
			s.trust = replaced.trust
		}
	}
	// The diagonal Δ comes before the matrices. Once all of Δ could be read, the sizes D and m cannot be just numbers of a
	// damaged head.
	visitor.Expect(s.m)
	delta := s.delta
	words.VisitElements(visitor, &delta, s.m, func(_ int, x *float64) {
		if visitor.Float(x); !(*x >= 0 && *x <= float64(s.Rows)*(1+0x1p-20)) {
			visitor.Fail("weights of %g in %d rows", *x, s.Rows)
		}
	})
	if visitor.Reads() && visitor.Err() == nil {
		visitor.Stop(s.allocateSums())
		copy(s.delta, delta)
	}
	if visitor.Err() != nil {
		return
	}
	if s.columns != nil {
		s.columns.encodeOrDecode(visitor)
	}
	visitor.Floats(s.zx)
	visitor.UpperTriangle(s.zz, s.m)
}

func (s *Statistics) visitMagicOfVersion(visitor *words.Visitor, isThin bool) string {
	letters := []byte(statisticsMagic)
	if isThin {
		copy(letters, thinMagic)
	}
	visitor.Bytes(letters)
	switch version := string(letters); {
	case version != thinMagic && version != statisticsMagic && version != untrustedMagic:
		visitor.Fail("no anchor statistics")
	case isThin != (version == thinMagic):
		visitor.Fail("ZᵀX is stored in another form")
	}
	return string(letters)
}

func (t *Trust) encodeOrDecode(visitor *words.Visitor, maxFeatures int) {
	words.Count(visitor, "number of features chosen", &t.Features, maxFeatures)
	visitor.FloatFields(&t.Value, &t.Chance)
	words.Count(visitor, "number of features chosen first", &t.Few, maxFeatures)
	visitor.FloatFields(&t.FewValue, &t.FewChance)
	if t.Few > t.Features || (t.Few == 0) != (t.Features == 0) || t.Features == 0 && *t != (Trust{}) {
		visitor.Fail("trust in %d features, the first %d of them", t.Features, t.Few)
	}
	for _, x := range []float64{t.Value, t.Chance, t.FewValue, t.FewChance} {
		if !isShare(x) {
			visitor.Fail("an alignment of %g", x)
		}
	}
}

func isShare(x float64) bool { return x >= 0 && x <= 1 && !math.Signbit(x) }

func (f *frame) encodeOrDecode(visitor *words.Visitor, d int) {
	visitor.Expect(4 * d)
	words.VisitElements(visitor, &f.columns, d, func(k int, j *int) {
		words.Count(visitor, "column", j, maxColumns-1)
		if k > 0 && *j <= f.columns[k-1] {
			visitor.Fail("columns do not ascend")
		}
		if visitor.Reads() {
			f.center, f.factor, f.fill = append(f.center, 0), append(f.factor, 0), append(f.fill, 0)
		}
		center, factor, fill := &f.center[k], &f.factor[k], &f.fill[k]
		visitor.FloatFields(center, factor, fill)
		if !isFinite(*center) || !isFinite(*factor) || !isFinite(*fill) || !(*factor > 0) {
			visitor.Fail("column %d has centre %g, factor %g, fill %g", *j, *center, *factor, *fill)
		}
	})
}

func (s *Statistics) checkSameAnchors(read *Statistics) error {
	if s.anchors == nil {
		return nil
	}
	const remedy = "the input or the options have changed since"
	if why := s.anchors.describeDifference(&read.frame); why != "" {
		return stream.Usagef("statistics of other scaling (%s): %s", why, remedy)
	}
	if s.anchors.M != read.m || s.anchors.Digest != read.digest || s.k != read.k {
		return stream.Usagef("statistics of other anchors or neighbours (%d, %d nearest; want %d, %d): %s",
			read.m, read.k, s.anchors.M, s.k, remedy)
	}
	return nil
}

func isFinite(x float64) bool { return x-x == 0 }
