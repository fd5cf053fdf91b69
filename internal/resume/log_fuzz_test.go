package resume

import (
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// FuzzLog: a log with a state of any head and numbers, with a right checksum, and anything after it, is read as
// far as it is sound: each state lies in it, and a state appended then is present the next time, with all
// before it.
func FuzzLog(f *testing.F) {
	f.Add([]byte(`{"name":"pass2","lengths":[1,2]}`), make([]byte, 24), []byte("torn"))
	f.Add([]byte(`{"name":"pass1","marks":{"a":"b"},"lengths":[]}`), []byte{}, []byte{})
	f.Add([]byte(`{"name":"pass2","lengths":[2,-1]}`), make([]byte, 8), []byte{})
	f.Add([]byte(`{"name":"pass2","lengths":[2305843009213693952]}`), []byte{}, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte(`[]`), make([]byte, 7), make([]byte, 40))
	digest := strings.Repeat("0", 64)
	path := filepath.Join(f.TempDir(), "states.log")
	read := func(t *testing.T, file *os.File) *stateLog {
		must.Get(file.Seek(0, 0))(t)
		l := &stateLog{file: file, states: map[string]loggedState{}}
		must.Do(t, l.readStates(digest))
		return l
	}
	f.Fuzz(func(t *testing.T, head, body, behind []byte) {
		file := must.Get(os.Create(path))(t)
		defer file.Close()
		sound := &stateLog{file: file, states: map[string]loggedState{}}
		must.Do(t, sound.appendState(digest, logHead{Name: "first", Lengths: []int{2}}, [][]float64{{1, 2}}))
		state := binary.LittleEndian.AppendUint32(nil, uint32(len(head)))
		state = binary.LittleEndian.AppendUint64(state, uint64(len(body)))
		state = append(append(state, head...), body...)
		state = binary.LittleEndian.AppendUint64(state, xxhash.Sum64(state))
		must.Get(file.WriteAt(append(state, behind...), sound.end))(t)

		l := read(t, file)
		size := must.Get(file.Stat())(t).Size()
		if l.end < sound.end || l.end > size || l.end != l.synced {
			t.Fatalf("it ends at %d, and is sound to %d at least of %d", l.end, sound.end, size)
		}
		for name, one := range l.states {
			at := one.numbersOffset
			for _, n := range one.head.Lengths {
				if n < 0 || at < 0 || at > l.end {
					t.Fatalf("state %q: %d numbers at %d of %d", name, one.head.Lengths, one.numbersOffset, l.end)
				}
				at += 8 * int64(n)
			}
			if at > l.end-8 {
				t.Fatalf("state %q ends at %d, the log at %d", name, at, l.end)
			}
		}
		must.Do(t, file.Truncate(l.end))
		must.Do(t, l.appendState(digest, logHead{Name: "last", Lengths: []int{1}}, [][]float64{{3}}))
		again := read(t, file)
		if !slices.Equal(slices.Sorted(maps.Keys(again.states)), slices.Sorted(maps.Keys(l.states))) || again.end != l.end {
			t.Errorf("states %v to %d, and then %v to %d", l.states, l.end, again.states, again.end)
		}
	})
}

// FuzzStages: a state's list of scratch files is refused, or names possible files of its own folder.
func FuzzStages(f *testing.F) {
	for _, mark := range []string{"", "null", "[]", `[{"name":"a","file":"rows.x.0` + dataSuffix + `","bytes":8,"record":8}]`, `[{"file":"../a` + dataSuffix + `","bytes":1,"record":1}]`, `[{"file":"a/b` + dataSuffix + `","bytes":1,"record":1}]`, `[{"file":"` + dataSuffix + `","bytes":-1,"record":0}]`, "{}"} {
		f.Add(mark)
	}
	f.Fuzz(func(t *testing.T, mark string) {
		files, err := parseFileMarks(mark)
		if err != nil {
			return
		}
		for _, one := range files {
			if dir, file := filepath.Split(filepath.Join("folder", one.File)); filepath.Clean(dir) != "folder" || !strings.HasSuffix(file, dataSuffix) || one.Bytes < 1 || one.Record < 1 {
				t.Errorf("%q names %+v", mark, one)
			}
		}
	})
}
