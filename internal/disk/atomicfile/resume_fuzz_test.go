//go:build unix

package atomicfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// FuzzResumeFile resumes any leftovers of a run: an output with marks at any places, some with a wrong checksum
// of the bytes, and a line of any text in their list, all lines with right checksums. It continues after a
// valid mark, and marks that it makes then are valid the next time.
func FuzzResumeFile(f *testing.F) {
	f.Add([]byte("one two three"), []byte{3, 7, 13}, []byte(`{"place":"3","bytes":9223372036854775807}`), false)
	f.Add([]byte("one"), []byte{3, 3, 2, 200}, []byte(`{"place":"0","bytes":-1}`), false)
	f.Add([]byte{}, []byte{0}, []byte(`{"place":"1","sum":17241709254077376921}`), true)
	f.Add([]byte("x"), []byte{}, []byte(`{"place":"0","bytes":0,"sum":17241709254077376921,"rows":-5,"detail":"AA=="}`), false)
	f.Add([]byte("12345678"), []byte{4 | 128, 8}, []byte("{"), true)
	path := filepath.Join(f.TempDir(), "out")
	f.Fuzz(func(t *testing.T, content, cuts, line []byte, torn bool) {
		begun, _, err := ResumeFile(t.Context(), path, func(FinishedFile) bool { return true })
		must.Do(t, err)
		must.Get(begun.Write([]byte("x")))(t)
		must.Do(t, begun.RecordMark("recipe", 1, nil))
		temp, ok := begun.LeaveForResume(t.Context())
		if !ok {
			t.Fatal("it cannot be left")
		}
		var list bytes.Buffer
		add := func(text []byte) { fmt.Fprintf(&list, "%016x %s\n", xxhash.Sum64(text), text) }
		for i, cut := range cuts {
			at := min(int(cut&127), len(content))
			sum := xxhash.Sum64(content[:at])
			if cut&128 != 0 {
				sum++
			}
			add(must.Get(json.Marshal(FinishedFile{Place: strconv.Itoa(i), Recipe: "recipe", Rows: 1, Bytes: int64(at), Sum: sum}))(t))
		}
		if add(line); torn {
			list.Truncate(list.Len() - 1)
		}
		must.Do(t, os.WriteFile(filepath.Join(temp, outputName), content, 0o600))
		must.Do(t, os.WriteFile(filepath.Join(temp, finishedName), list.Bytes(), 0o600))

		again, marks, err := ResumeFile(t.Context(), path, func(m FinishedFile) bool { return m.Recipe == "recipe" })
		must.Do(t, err)
		end := int64(0)
		for i, m := range marks {
			if m.Place != strconv.Itoa(i) || m.Bytes < end || m.Bytes > int64(len(content)) || m.Sum != xxhash.Sum64(content[:m.Bytes]) {
				t.Fatalf("mark %d of %q: %+v", i, content, m)
			}
			end = m.Bytes
		}
		must.Get(again.Write([]byte("behind")))(t)
		must.Do(t, again.RecordMark("recipe", 1, []byte("detail")))
		if _, ok := again.LeaveForResume(t.Context()); !ok {
			t.Fatal("it cannot be left again")
		}
		last, more, err := ResumeFile(t.Context(), path, func(m FinishedFile) bool { return m.Recipe == "recipe" })
		must.Do(t, err)
		if n := len(marks); len(more) <= n || more[n].Bytes != end+6 || string(more[n].Detail) != "detail" {
			t.Fatalf("%d marks to %d, and then %+v", n, end, more)
		}
		must.Do(t, last.Commit())
		if whole := must.Get(os.ReadFile(path))(t); len(whole) < int(end)+6 || string(whole[:end+6]) != string(content[:end])+"behind" {
			t.Errorf("%q after %q", whole, content[:end])
		}
		must.Do(t, os.Remove(path))
	})
}
