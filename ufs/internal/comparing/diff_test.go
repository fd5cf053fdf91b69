package comparing

import (
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// sketched is a selection of these features, from data of others beside them.
func sketched(rows int64, contents string, chosen []string, nearest map[string]string, leftOut ...string) *stream.Selection {
	s := &stream.Selection{Method: "greedy", RowsUsed: rows, Inputs: []stream.Input{{Path: "x", Fingerprint: contents}}}
	for i, name := range chosen {
		s.Selected = append(s.Selected, stream.Selected{Rank: i + 1, Name: name, Error: 0.5})
		s.Columns = append(s.Columns, stream.ColumnReport{Name: name, Explained: 1, Nearest: name})
	}
	for _, name := range request.SortedKeys(nearest) {
		s.Columns = append(s.Columns, stream.ColumnReport{Name: name, Explained: 0.98, Nearest: nearest[name]})
	}
	for _, name := range leftOut {
		s.LeftOut = append(s.LeftOut, stream.LeftOut{Name: name, Why: "constant"})
	}
	s.Features = len(s.Columns)
	return s
}

// TestDiffSaysWhy: each feature that came or went has its reason, and the data theirs.
func TestDiffSaysWhy(t *testing.T) {
	before := sketched(100, "1", []string{"a", "b", "c", "d", "e"}, map[string]string{"x": "a", "f": "b"})
	after := sketched(140, "2", []string{"b", "e", "x", "n", "f"}, map[string]string{"a": "x", "d": "e"}, "new_flat")
	d := CompareSelections(before, after)
	why := make(map[string]string)
	for _, c := range slices.Concat(d.Came, d.Went) {
		why[c.Name] = c.Why
	}
	for name, want := range map[string]string{
		"a": "replaced by x, with which 98.00% of it is explained", "c": "gone from the data", "d": "explained through e, with which 98.00% of it is explained",
		"x": "takes the place of a, with which 98.00% of it is explained", "n": "not in the old data", "f": "explained through b, with which 98.00% of it is explained",
	} {
		if why[name] != want {
			t.Errorf("%s: %q, want %q", name, why[name], want)
		}
	}
	if len(why) != 6 || d.Both != 2 || !slices.Equal(d.Moved, []result.Move{{Name: "b", Old: 2, New: 1}, {Name: "e", Old: 5, New: 2}}) {
		t.Errorf("difference %+v: want 6 reasons (%d), 2 features in both, b and e moved", d, len(why))
	}
	if got := d.Data; got.SameInputs || got.Rows != 40 || got.Features != 0 || !slices.Equal(got.New, []string{"n", "new_flat"}) || !slices.Equal(got.Gone, []string{"c"}) {
		t.Errorf("data %+v", got)
	}
	if got := CompareSelections(before, before).Data; !got.SameInputs || got.Rows != 0 || len(got.New)+len(got.Gone) != 0 {
		t.Errorf("with itself: %+v", got)
	}
	bare := *after
	bare.Columns = nil
	if got := CompareSelections(before, &bare).Data; len(got.New)+len(got.Gone) != 0 || got.Rows != 40 {
		t.Errorf("without reports: %+v", got)
	}
	left := sketched(100, "1", []string{"b"}, nil, "a")
	if got := CompareSelections(before, left).Went[0]; got.Why != "constant" {
		t.Errorf("left out: %+v", got)
	}
}
