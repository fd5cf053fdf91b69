package ipc

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// widthUnknown marks a list column before its first row has been seen.
const widthUnknown = -1

// findWidths takes the length of the lists from a batch, for list columns whose length no
// earlier batch told; later batches must have it too, which decoding checks.
func (s *schema) findWidths(ctx context.Context, g *group) error {
	for l := range s.columns {
		c := &s.columns[l]
		if !c.Leaf.List || c.Width != widthUnknown {
			continue
		}
		var err error
		if c.Width, err = g.listWidth(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// seeksWidths reports whether a list column's length is still to be found.
func (s *schema) seeksWidths() bool {
	for _, c := range s.columns {
		if c.Leaf.List && c.Width == widthUnknown {
			return true
		}
	}
	return false
}

// settleWidths says why lists without one length are no features.
func (s *schema) settleWidths() {
	for l := range s.columns {
		c := &s.columns[l]
		if !c.Leaf.List || c.Width > 0 {
			continue
		}
		switch {
		case c.Why != "":
		case c.Width == widthUnknown:
			c.Why = "every list is null"
		default:
			c.Why = format.WhyVarying
		}
		c.Width = 0
	}
}
