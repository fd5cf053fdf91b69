package ufs

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/scanning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// FuzzWords reads values given in words: shards, sizes of sketches, lists of names.
func FuzzWords(f *testing.F) {
	for _, text := range []string{"2/8", "auto", "auto/3", "-1/2", "2%", "1e-1%", "0.1%", "99.9%", "NaN%", "2048", "9223372036854775807", "a,\"b,c\",\"\"\"\"", "\"a\nb\",c", "\"", "\r\n", "\"\r\n\",\n", "a\"b", "\"a\"\"", "\"a\"b\"c\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		refused := func(err error) bool {
			if err != nil && !errors.As(err, new(*stream.UsageError)) {
				t.Errorf("got %T: %v, want a usage error or none", err, err)
			}
			return err != nil
		}
		environment := map[string]string{"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": text}
		look := func(name string) (string, bool) { value, there := environment[name]; return value, there }
		if s, err := scanning.ReadShard(text, look); !refused(err) && text != "" && (s.Number < 1 || s.Number > s.Count) {
			t.Errorf("shard %d of %d", s.Number, s.Count)
		}
		if rows, err := settled.ParseSketchRows(text); !refused(err) && rows < 1 {
			t.Errorf("a sketch of %d rows", rows)
		}
		names, err := request.SplitNames(text)
		if err != nil || len(names) == 0 {
			return
		}
		if again, err := request.SplitNames(request.JoinNames(names)); err != nil || !slices.Equal(names, again) {
			t.Errorf("%v: names %q are written %q and read as %q", err, names, request.JoinNames(names), again)
		}
	})
}

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
