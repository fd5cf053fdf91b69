package planfile

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestPlanVector reads a plan with something in every field, as it was written when version 1 was current. Nothing in it
// is lost: written again it has the same bytes, and so the same ID, by which parts of earlier versions belong to it.
func TestPlanVector(t *testing.T) {
	vector := must.Get(os.ReadFile("testdata/vectors/v1.plan.json"))(t)
	h, files, err := read(bytes.NewReader(vector))
	must.Do(t, err)
	var want struct {
		ID      string
		Options map[string]string
		Rows    int64
		Files   []struct {
			Path   string
			Groups [][2]int64
		}
	}
	must.Do(t, json.Unmarshal(vector, &want))
	if h.ID != want.ID || h.Rows != want.Rows || h.Options["where"] != want.Options["where"] || h.Catalog.Leaves[1].Type != "list<float>" || len(files) != 2 || len(want.Files) != 2 {
		t.Fatalf("got %+v and %d files, want %+v", h, len(files), want)
	}
	for i, f := range files {
		if f.Path != want.Files[i].Path || !slices.Equal(f.Groups, want.Files[i].Groups) {
			t.Errorf("file %d: got %+v, want %+v", i, f, want.Files[i])
		}
	}
	if id, again := write(t, h, files); id != want.ID || !bytes.Equal(again, vector) {
		t.Errorf("written again it has the ID %s, want %s, and the bytes\n%s", id, want.ID, again)
	}
}
