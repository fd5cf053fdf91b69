package stream

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzSelection: a decoded selection, encoded and decoded again, is the same.
func FuzzSelection(f *testing.F) {
	f.Add([]byte(`{"schema":"` + SelectionSchema + `","method":"greedy","k":2,"seed":1,"selected":[{"rank":1,"name":"a","score":1e300,"error":null,"members":["a","b"]}],` +
		`"options":{"scale":"none","k":[1,{"a":null}]},"columns":[{"name":"a","mean":0.1,"explained":null}],"trust":{"choice":{"value":1}},"warnings":["w"]}`))
	f.Add([]byte(`{"schema":"` + SelectionSchema + `"} {}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := DecodeSelection(bytes.NewReader(text))
		if err != nil {
			if strings.Contains(err.Error(), "Go ") {
				t.Errorf("Go's own words: %v", err)
			}
			return
		}
		var once, twice bytes.Buffer
		if err := s.Encode(&once); err != nil {
			t.Fatalf("encoding the decoded selection: %v", err)
		}
		again, err := DecodeSelection(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("decoding the encoded selection again: %v: %s", err, once.Bytes())
		}
		if err := again.Encode(&twice); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Errorf("%v: written as %s, then as %s", err, once.Bytes(), twice.Bytes())
		}
	})
}
