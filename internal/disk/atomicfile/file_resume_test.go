//go:build unix

package atomicfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// grow writes words to a file after its marks, with a mark after each.
func grow(t *testing.T, f *File, marks []FinishedFile, words ...string) {
	t.Helper()
	for i, word := range words {
		if i >= len(marks) {
			must.Get(f.Write([]byte(word)))(t)
			must.Do(t, f.RecordMark("recipe", int64(len(word)), []byte{byte(i)}))
		}
	}
}

// TestResumeFile: a file continues after the longest marked beginning that is still as it was written, wherever
// it was torn or damaged, and only there.
func TestResumeFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	words := []string{"one", "", strings.Repeat("two", 1<<16), "three"}
	ends := []int{3, 3, 3 + 3<<16, 8 + 3<<16}
	must.Do(t, os.WriteFile(path, []byte("old"), 0o600))
	anyMark := func(FinishedFile) bool { return true }
	for _, damage := range []struct {
		at, marks int
		apply     func(path string, at int) error
	}{
		{0, 4, func(string, int) error { return nil }},
		{ends[3] + 5, 4, cut}, // after the last mark
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
		temp, ok := f.LeaveForResume(t.Context())
		if !ok {
			t.Fatal("a file with marks cannot be left")
		}
		must.Do(t, damage.apply(filepath.Join(temp, outputName), damage.at))
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
	if _, ok := f.LeaveForResume(t.Context()); ok {
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

// TestResumeFileStrikesOut: a mark that was once not wanted is never taken again, even if a run that began anew
// has written the bytes up to it once more: its checksum continues from a mark that no longer exists.
func TestResumeFileStrikesOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	resume := func(recipe string) (*File, []FinishedFile) {
		f, marks, err := ResumeFile(t.Context(), path, func(m FinishedFile) bool { return m.Recipe == recipe })
		must.Do(t, err)
		return f, marks
	}
	leave := func(f *File) string {
		temp, ok := f.LeaveForResume(t.Context())
		if !ok {
			t.Fatal("it cannot be left")
		}
		return temp
	}
	f, _ := resume("recipe")
	grow(t, f, nil, "one", "two", "three")
	leave(f)
	f, marks := resume("other")
	if len(marks) > 0 || f.RefusalFate() != Outdated {
		t.Fatalf("%d marks are taken, %v", len(marks), f.RefusalFate())
	}
	must.Get(f.Write([]byte("onetwo")))(t)
	must.Do(t, f.RecordMark("recipe", 6, nil)) // as one of the first run, at the place of its second
	must.Get(f.Write([]byte("three")))(t)
	temp := leave(f)
	f, marks = resume("recipe")
	if len(marks) != 1 || marks[0].Rows != 6 || f.RefusalFate() != Unfinished {
		t.Errorf("taken are %+v", marks)
	}
	must.Get(f.Write([]byte("three")))(t)
	must.Do(t, f.RecordMark("recipe", 5, nil))
	leave(f)
	must.Do(t, flip(filepath.Join(temp, outputName), 0))
	if f, marks = resume("recipe"); len(marks) > 0 || f.RefusalFate() != Altered {
		t.Errorf("of another beginning %d marks are taken, %v", len(marks), f.RefusalFate())
	}
	f.Abort()
}

// TestResumeFileInterrupted: a run that is interrupted while it reads the old file leaves it unchanged.
func TestResumeFileInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, _, err := ResumeFile(t.Context(), path, nil)
	must.Do(t, err)
	grow(t, f, nil, "one", "two")
	temp, _ := f.LeaveForResume(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err = ResumeFile(ctx, path, func(FinishedFile) bool { cancel(); return true })
	if waits, ok := errors.AsType[*WaitingError](err); !ok || waits.Temp != temp || !errors.Is(err, context.Canceled) {
		t.Fatalf("resuming with a cancelled context: got %v, want Waits at %s", err, temp)
	}
	f, marks, err := ResumeFile(t.Context(), path, func(FinishedFile) bool { return true })
	must.Do(t, err)
	if len(marks) != 2 {
		t.Errorf("%d marks are left of 2", len(marks))
	}
	must.Do(t, f.Commit())
}
