package gram

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
)

// Chunks that end where strips do give the bits of the whole, also where a column's
// first missing entry comes in a later strip; and the profile in a Moments is a
// Profile's own.
func TestStrips(t *testing.T) {
	const n = 3*stripRows + 7
	for _, missing := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			t.Run(fmt.Sprintf("missing=%v/weighted=%v", missing, weighted), func(t *testing.T) {
				tab := sample(9, n, missing, weighted)
				want := encode(t, tab.moments(t, Options{}, n))
				for _, height := range []int{stripRows, 2 * stripRows, n, 9} {
					m := tab.moments(t, Options{Threads: 2}, height)
					if height >= stripRows && !bytes.Equal(encode(t, m), want) {
						t.Errorf("blocks of %d rows: other bits", height)
					}
					p := NewProfile(len(tab.Cols))
					tab.add(t, p, height)
					if !reflect.DeepEqual(*p, m.Profile) {
						t.Errorf("blocks of %d rows: the profile alone is another", height)
					}
				}
			})
		}
	}
}
