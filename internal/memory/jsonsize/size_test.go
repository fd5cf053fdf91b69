package jsonsize_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/jsonsize"
	"github.com/ufs-stream/ufs-stream/stream"
)

// document has a field of each kind that results have.
type document struct {
	Text     string
	Texts    []string
	Numbers  []stream.Number
	Parts    []part          `json:"parts"`
	Anything map[string]any  `json:"anything"`
	Raw      json.RawMessage `json:"raw"`
	Maybe    *part
	stream.Memory
}

type part struct {
	Name string
	Of   []*part
}

// TestOfBoundsWhatDecodingHolds: a document of any kind takes no more than the count, and the count is at most
// eight times as much.
func TestOfBoundsWhatDecodingHolds(t *testing.T) {
	const n = 100_000
	for what, text := range map[string]string{
		"short texts":    `{"Texts": [` + strings.Repeat(`"abcdefg",`, n) + `""]}`,
		"empty texts":    `{"texts": [` + strings.Repeat(`"",`, n) + `""]}`,
		"numbers":        `{"Numbers": [` + strings.Repeat(`1,`, n) + `null]}`,
		"one text":       `{"Text": "` + strings.Repeat(`a`, n*10) + `"}`,
		"wrong bytes":    `{"Text": "` + strings.Repeat("\xff", n*10) + `"}`,
		"parts":          `{"parts": [` + strings.Repeat(`{"name": "abc"},`, n) + `{}]}`,
		"parts of parts": `{"PARTS": [{"of": [` + strings.Repeat(`{"of": [{},null]},`, n) + `null]}]}`,
		"anything":       `{"anything": {` + manyMembers(n) + `}}`,
		"lists":          `{"anything": {"x": [` + strings.Repeat(`[],`, n) + `[[1, true, null]]]}}`,
		"objects":        `{"anything": {"x": [` + strings.Repeat(`{},`, n) + `{"y": "z"}]}}`,
		"raw":            `{"raw": [` + strings.Repeat(`"abcdefg",`, n) + `""]}`,
		"escaped name":   `{"\u0054exts": [` + strings.Repeat(`"abcdefg",`, n) + `""]}`,
	} {
		size, err := jsonsize.DecodedBytes(t.Context(), []byte(text), reflect.TypeFor[document]())
		if err != nil {
			t.Errorf("%s: got error %v, want none", what, err)
		}
		held := held(t, what, []byte(text))
		if size < held || size > 8*held {
			t.Errorf("%s: %d bytes are counted and %d are held", what, size, held)
		}
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d": %d,`, i, i)
	}
	return b.String() + `"": null`
}

// held returns the heap memory of the decoded document.
func held(t *testing.T, what string, text []byte) int64 {
	t.Helper()
	live := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("%s: got error %v, want none", what, err)
	}
	after := live()
	runtime.KeepAlive(d)
	runtime.KeepAlive(text)
	return after - before
}

// TestOfTakesLittle: counting takes nothing in proportion to the document.
func TestOfTakesLittle(t *testing.T) {
	text := []byte(`{"Texts": [` + strings.Repeat(`"abcdefg",`, 1<<20) + `""], "anything": {"a": [` + strings.Repeat(`[],`, 1<<20) + `1]}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := jsonsize.DecodedBytes(t.Context(), text, reflect.TypeFor[document]()); err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<10 {
		t.Errorf("%d bytes were allocated for a document of %d", took, len(text))
	}
}

// TestOfEnds: a context that has ended ends it, and so does text that is no JSON.
func TestOfEnds(t *testing.T) {
	text := []byte(`{"Texts": [` + strings.Repeat(`"abcdefg",`, 1<<14) + `""]}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := jsonsize.DecodedBytes(ctx, text, reflect.TypeFor[document]()); err != context.Canceled { //nolint:errorlint // as it is
		t.Errorf("after the end: %v", err)
	}
	if n, err := jsonsize.CountElements(ctx, text[len(`{"Texts": `):]); err != context.Canceled { //nolint:errorlint // as it is
		t.Errorf("after the end: %d elements, %v", n, err)
	}
	for _, broken := range []string{``, `{`, `{"Texts": [1`, `[1,`, `{"parts": {]}`} {
		if n, err := jsonsize.DecodedBytes(t.Context(), []byte(broken), reflect.TypeFor[document]()); err == nil {
			t.Errorf("%q counts as %d bytes", broken, n)
		}
	}
}

// FuzzOf: any JSON that encoding/json decodes can be counted, elements too, and nothing panics.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, `{"texts": null}`, `{"parts": [{"of": [null, {}]}], "PARTS": 3}`, `{"anything": {"a": [1, {"b": "c"}]}}`, `[1,2,3] `, `{"Text": "\ud800", "Text": "x"}`,
		`{"raw": [[]], "Maybe": {"Name": "\\"}, "limit_bytes": 7, "\u0054ext": ""}`, "\"\xff\"", `{"texts": {"a": 1}}`, `{"numbers": ["x", 1e999]}`, `nul`, `{"a"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		size, err := jsonsize.DecodedBytes(t.Context(), text, reflect.TypeFor[document]())
		var d document
		if decoded := json.Unmarshal(text, &d); decoded == nil && err != nil || size < 0 {
			t.Errorf("%q is decoded, but counts as %d: %v", text, size, err)
		}
		var list []json.RawMessage
		n, err := jsonsize.CountElements(t.Context(), text)
		if json.Unmarshal(text, &list) == nil && (err != nil || n != len(list)) && !bytes.Equal(bytes.TrimSpace(text), []byte("null")) {
			t.Errorf("%q has %d elements, not %d: %v", text, len(list), n, err)
		}
	})
}
