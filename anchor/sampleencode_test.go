package anchor

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestSampleGoesOn: a sample that is written halfway and read into one made alike takes further rows as the
// first would have: under a bound, with the starts of row groups, and by entries.
func TestSampleGoesOn(t *testing.T) {
	for name, opt := range map[string]SamplerOptions{
		"plain": {}, "bound": {Bound: 1 << 62}, "starts": {Starts: []int64{0, 10, 30, 50}}, "entries": {Entries: true},
	} {
		tab, sparse := clusters(60, 9, 4).thinned(3)
		if opt.Entries {
			tab = sparse
		}
		opt.Rows, opt.Seed = 12, 3
		add := func(s *Sampler, from, to int) {
			tab.AddRows(t, s, from, to, 5)
		}
		form := func(s *Sampler) []byte {
			var b bytes.Buffer
			must.Get(s.WriteTo(&b))(t)
			return b.Bytes()
		}
		want, begun, got := NewSampler(9, opt), NewSampler(9, opt), NewSampler(9, opt)
		add(want, 0, 60)
		add(begun, 0, 30)
		saved := form(begun)
		if n := must.Get(got.ReadFrom(bytes.NewReader(saved)))(t); n != int64(len(saved)) {
			t.Fatalf("%s: read %d of %d bytes", name, n, len(saved))
		}
		add(got, 30, 60)
		if !bytes.Equal(form(got), form(want)) || !reflect.DeepEqual(starts(got), starts(want)) {
			t.Errorf("%s: another sample", name)
		}
		for at := range saved {
			if _, err := NewSampler(9, opt).ReadFrom(bytes.NewReader(saved[:at])); err == nil {
				t.Fatalf("%s, cut off at %d: no error", name, at)
			}
		}
	}
}

// starts are the row groups of the rows of a sample, by position.
func starts(s *Sampler) map[int64]int64 {
	of := make(map[int64]int64)
	for _, r := range s.rows {
		of[r.position] = r.start
	}
	return of
}
