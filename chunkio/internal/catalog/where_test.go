package catalog

import (
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// A filtered list of files keeps the values of its table's keys.
func TestListKeepsTableKeys(t *testing.T) {
	l := listing.NewLocalList([]string{"a", "b", "c", "d"})
	l.KeyTexts = listing.NewKeyTexts([]string{"k"})
	for _, value := range []string{"1", "2", "3", listing.HiveNull} {
		l.KeyTexts.AddFileValues([]string{value})
	}
	f := must.Get(NewFilter("k >= 2"))(t)
	kept := must.Get(f.PruneFiles(l))(t)
	if got := kept.Paths(); !slices.Equal(got, []string{"b", "c"}) || kept.KeyTexts.FileValues(0)[0] != "2" || kept.KeyTexts.FileValues(1)[0] != "3" {
		t.Errorf("%v with %v and %v, want b and c with 2 and 3", got, kept.KeyTexts.FileValues(0), kept.KeyTexts.FileValues(1))
	}
}
