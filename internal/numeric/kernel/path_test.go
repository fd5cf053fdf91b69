package kernel

import "testing"

// asBest runs a test with each path in its turn as the one that is in use.
func asBest(t *testing.T, test func(t *testing.T)) {
	onPaths(t, func(t *testing.T, p *isa) {
		before := best
		best = p
		defer func() { best = before }()
		test(t)
	})
}
