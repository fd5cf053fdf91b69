package stream

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// withoutColumns is a decoded JSON value without the members that hold positions of columns, and without its schema.
func withoutColumns(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name == "column" || name == "input_columns" || name == "schema" {
				delete(v, name)
			} else {
				v[name] = withoutColumns(member)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutColumns(v[i])
		}
	}
	return v
}

// TestSelectionVectors reads the selections in testdata/vectors, which each version of the schema has one of, as
// `ufs-stream select` wrote it when the version was current. They have the same choice from the same table.
func TestSelectionVectors(t *testing.T) {
	for name, want := range map[string][]string{"selection-v1.json": {"", ""}, "selection-v2.json": {"5", "3"}} {
		t.Run(name, func(t *testing.T) {
			vector := must.Get(os.ReadFile(filepath.Join("testdata", "vectors", name)))(t)
			s := must.Get(DecodeSelection(bytes.NewReader(vector)))(t)
			if s.Method != "greedy" || s.K != 2 || s.Seed != 1 || s.Rows != 6 || len(s.Selected) != 2 {
				t.Fatalf("got %s, k %d, seed %d, %d rows, %d selected, want greedy 2 1 6 2", s.Method, s.K, s.Seed, s.Rows, len(s.Selected))
			}
			e, c := s.Selected[0], s.Selected[1]
			if e.Name != "e" || c.Name != "c" || e.Score != 13.761946882741766 || c.Score != 6.7511406030003185 || float64(c.Error) != 0.14528802142741318 {
				t.Errorf("selected %+v and %+v, want e and c with the scores of the vector", e, c)
			}
			if got := []string{e.Column.String(), c.Column.String()}; !reflect.DeepEqual(got, want) {
				t.Errorf("positions %q, want %q", got, want)
			}
			var again bytes.Buffer
			must.Do(t, s.Encode(&again))
			if name == "selection-v2.json" && !bytes.Equal(again.Bytes(), vector) {
				t.Errorf("encoded again it differs:\n%s", again.Bytes())
			}
			var before, after any
			must.Do(t, json.Unmarshal(vector, &before))
			must.Do(t, json.Unmarshal(again.Bytes(), &after))
			if before, after = withoutColumns(before), withoutColumns(after); !reflect.DeepEqual(before, after) {
				t.Errorf("encoded again it has\n%v\nwant\n%v", after, before)
			}
		})
	}
}
