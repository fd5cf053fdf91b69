package ufs

import (
	"bytes"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// FuzzRecorded makes a request from a selection's record, compares it with itself, and explains it.
func FuzzRecorded(f *testing.F) {
	for _, options := range []string{
		`"scale":"none","missing":"error","columns":"a,b"`, `"keep":"\"","budget":1e300`, `"groups":"prefix:_","group-most":-1,"stability":"x","rows":1.5`,
		`"anchors-file":{},"alpha":[1,"2x"],"passes":-1,"sketch":"2%","seed":"18446744073709551615"`, `"auto-exclude":null,"max-missing":"NaN"`,
	} {
		f.Add([]byte(`{"schema":"` + stream.SelectionSchema + `","method":"greedy","k":1,"selected":[{"rank":1,"name":"a","score":1,"error":0.5}],"options":{` + options + `},` +
			`"columns":[{"name":"a","explained":1,"nearest":"a"},{"name":"b","nearest":"a"}],"left_out":[{"name":"b","why":"w"}]}`))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := stream.DecodeSelection(bytes.NewReader(text))
		if err != nil {
			return
		}
		_, _ = RecordedRequest(s, nil)
		Diff(s, s)
		_, _ = Explain(t.Context(), ExplainRequest{Selection: s, Names: []string{"a", "b", "c"}})
	})
}
