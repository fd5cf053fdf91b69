//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
)

// grow writes words to a file, behind the marks that it has, with a mark behind each.
func grow(t *testing.T, f *File, marks []Finished, words ...string) {
	t.Helper()
	for i, word := range words {
		if i >= len(marks) {
			must.Get(f.Write([]byte(word)))(t)
			must.Do(t, f.Mark("recipe", int64(len(word)), []byte{byte(i)}))
		}
	}
}

// TestResumeFile: a file is gone on with behind the longest marked beginning that is there as it was
// written, wherever it was torn or damaged, and only there.
func TestResumeFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	words := []string{"one", "", strings.Repeat("two", 1<<16), "three"}
	ends := []int{3, 3, 3 + 3<<16, 8 + 3<<16}
	must.Do(t, os.WriteFile(path, []byte("old"), 0o600))
	anyMark := func(Finished) bool { return true }
	for _, damage := range []struct {
		at, marks int
		apply     func(path string, at int) error
	}{
		{0, 4, func(string, int) error { return nil }},
		{ends[3] + 5, 4, cut}, // behind the last mark
		{ends[3], 4, cut}, {ends[3] - 1, 3, cut}, {ends[2], 3, cut}, {ends[2] - 1, 2, cut}, {ends[0], 2, cut}, {2, 0, cut}, {0, 0, cut},
		{ends[3] - 1, 3, flip}, {ends[2], 3, flip}, {ends[2] - 1, 2, flip}, {0, 0, flip},
	} {
		f, marks, err := ResumeFile(t.Context(), path, anyMark)
		must.Do(t, err)
		if len(marks) > 0 {
			t.Fatalf("a new file has %d marks", len(marks))
		}
		grow(t, f, nil, words...)
		must.Get(f.Write([]byte("behind the last mark")))(t)
		temp, ok := f.Leave(t.Context())
		if !ok {
			t.Fatal("a file with marks cannot be left")
		}
		must.Do(t, damage.apply(filepath.Join(temp, growingName), damage.at))
		f, marks, err = ResumeFile(t.Context(), path, anyMark)
		must.Do(t, err)
		if len(marks) != damage.marks {
			t.Errorf("damaged at %d: %d marks hold, want %d", damage.at, len(marks), damage.marks)
		}
		for i, m := range marks {
			if m.Bytes != int64(ends[i]) || m.Rows != int64(len(words[i])) || !slices.Equal(m.Detail, []byte{byte(i)}) {
				t.Errorf("mark %d is %+v", i, m)
			}
		}
		grow(t, f, marks, words...)
		if text := string(must.Get(os.ReadFile(path))(t)); text != "old" {
			t.Errorf("the place has %d bytes before the file is whole", len(text))
		}
		must.Do(t, f.Commit())
		if text := string(must.Get(os.ReadFile(path))(t)); text != strings.Join(words, "") {
			t.Errorf("damaged at %d: the file has %d bytes, want %d", damage.at, len(text), ends[3])
		}
		must.Do(t, os.WriteFile(path, []byte("old"), 0o600))
		if left := tempsIn(t, dir); left != nil {
			t.Fatalf("left behind: %q", left)
		}
	}
	f, _, err := ResumeFile(t.Context(), path, anyMark)
	must.Do(t, err)
	if _, ok := f.Leave(t.Context()); ok {
		t.Error("a file without a mark is left")
	}
	grow(t, f, nil, "one", "two")
	if _, _, err := ResumeFile(t.Context(), path, anyMark); err == nil {
		t.Error("a file that is being written is taken")
	}
	f.Abort()
	if left := tempsIn(t, dir); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

func cut(path string, at int) error { return os.Truncate(path, int64(at)) }

func flip(path string, at int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text[at] ^= 4
	return os.WriteFile(path, text, 0o600)
}
