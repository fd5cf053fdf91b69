package catalog

import (
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
)

func TestBooleanPartitionKeys(t *testing.T) {
	for _, c := range []struct {
		texts  []string
		values []float64
		truth  bool
	}{
		{[]string{"true", "false", listing.HiveNull}, []float64{1, 0, format.Null}, true},
		{[]string{listing.HiveNull, "True", "FALSE"}, []float64{format.Null, 1, 0}, true},
		{[]string{"true", "1"}, nil, false},
		{[]string{"true", ""}, nil, false},
		{[]string{listing.HiveNull}, nil, false},
		{[]string{"1", "0"}, []float64{1, 0}, false},
	} {
		p := newPartition("k", c.texts, "")
		if !slices.EqualFunc(p.Values, c.values, formattest.SameBits) || p.IsBool != c.truth || (p.Why == "") != (p.Values != nil) {
			t.Errorf("partition of %v: %+v, want values %v, bool %v", c.texts, p, c.values, c.truth)
		}
	}
}

func TestDecimalNumber(t *testing.T) {
	for text, ok := range map[string]bool{
		"1": true, "-2.5e3": true, "007": true, "": false, "inf": false, "NaN": false, "0x1p2": false, "1_000": false, "1e999": false, "2020-01-01": false,
	} {
		if _, err := ParseDecimal(text); (err == nil) != ok {
			t.Errorf("%q: error %v", text, err)
		}
	}
}
