package anchor

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Merge adds the statistics of o to s in O(m² + m·D) for m anchors of D columns. Up to rounding, the result equals one
// pass over the rows of both. o is unchanged. On error s is unchanged. The error is a *stream.UsageError if the
// anchors, the number of neighbours, or scaling and filling differ.
func (s *Statistics) Merge(o *Statistics) error {
	if err := errors.Join(s.brokenErr, o.brokenErr); err != nil {
		return err
	}
	const remedy = "scan all parts with the same options and one profile ({profile}) of all of them"
	if s.k != o.k {
		return stream.Usagef("cannot merge graphs of %d and %d neighbours: %s", s.k, o.k, remedy)
	}
	if why := s.frame.difference(&o.frame); why != "" {
		return stream.Usagef("cannot merge graphs of other scaling (%s): %s", why, remedy)
	}
	if s.m != o.m || s.digest != o.digest {
		return stream.Usagef("cannot merge graphs of other anchors (%d and %d): %s", s.m, o.m, remedy)
	}
	s.Rows += o.Rows
	if s.trust == (Trust{}) { // if both have a trust it is equal, because it depends on the anchors alone
		s.trust = o.trust
	}
	kernel.Axpy(1, o.delta, s.delta)
	kernel.Axpy(1, o.zx, s.zx)
	kernel.Axpy(1, o.zz, s.zz)
	return nil
}
