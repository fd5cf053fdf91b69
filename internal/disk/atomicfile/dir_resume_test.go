//go:build unix

package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/faults"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func all(string) bool { return true }

// build writes a file of a folder and notes it as whole.
func build(t *testing.T, d *Dir, rel, text string) {
	t.Helper()
	f := must.Get(d.Create(t.Context(), rel))(t)
	must.Get(f.Write([]byte("given up")))(t)
	must.Do(t, f.Restart())
	must.Get(f.Write([]byte(text)))(t)
	must.Do(t, f.Commit())
	must.Do(t, d.RecordFile(t.Context(), rel, f, "recipe of "+rel, int64(len(text))))
}

// fates returns the fates of the files made by build at these places.
func fates(t *testing.T, d *Dir, rels ...string) (got []Fate) {
	t.Helper()
	for _, rel := range rels {
		f, fate, err := d.CheckFinished(t.Context(), rel, "recipe of "+rel)
		must.Do(t, err)
		if fate == Whole && (f.Place != rel || f.Rows != f.Bytes) {
			t.Errorf("%s: the record is %+v; want its place, and as many rows as bytes", rel, f)
		}
		got = append(got, fate)
	}
	return got
}

func leave(t *testing.T, d *Dir) string {
	t.Helper()
	temp, ok := d.LeaveForResume(t.Context())
	if !ok {
		t.Fatal("the folder cannot be left")
	}
	return temp
}

// A folder that was left is resumed: finished and unchanged files are reported as whole, all others are
// removed, and the complete folder has exactly its files.
func TestResumeDir(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	d := must.Get(ResumeDir(t.Context(), path, all))(t)
	if _, ok := d.LeaveForResume(t.Context()); ok {
		t.Error("a folder without a finished file is left")
	}
	for _, rel := range []string{"a", "b/c", "b/d", "e", "gone/x", "file"} {
		build(t, d, rel, "text of "+rel)
	}
	must.Get(must.Get(d.Create(t.Context(), "torn"))(t).Write([]byte("x")))(t)
	temp := leave(t, d)
	must.Do(t, d.Abort(t.Context())) // does nothing now
	must.Do(t, os.WriteFile(filepath.Join(temp, outputName, "b", "d"), []byte("text of b/D"), 0o600))
	must.Do(t, os.Remove(filepath.Join(temp, outputName, "e")))
	must.Do(t, os.WriteFile(filepath.Join(temp, outputName, "b", "foreign"), nil, 0o600))

	d = must.Get(ResumeDir(t.Context(), path, func(rel string) bool { return rel != "gone/x" && rel != "file" }))(t)
	if want := []Fate{Whole, Whole, Altered, Altered, Unfinished, Unfinished}; !slices.Equal(fates(t, d, "a", "b/c", "b/d", "e", "torn", "foreign"), want) {
		t.Errorf("fates %v, want %v", fates(t, d, "a", "b/c", "b/d", "e", "torn", "foreign"), want)
	}
	if _, fate, err := d.CheckFinished(t.Context(), "a", "another"); fate != Outdated || err != nil {
		t.Errorf("of another recipe: %v, %v", fate, err)
	}
	kept := must.Get(os.Stat(filepath.Join(d.Path(), "a")))(t)
	build(t, d, "b/d", "again")
	build(t, d, "gone", "a file where a folder was")
	build(t, d, "file/x", "and the other way round")
	must.Do(t, d.Commit(t.Context()))
	want := map[string]string{"a": "text of a", "b/c": "text of b/c", "b/d": "again", "gone": "a file where a folder was", "file/x": "and the other way round"}
	if got := must.Files(t, path); !maps.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	if now := must.Get(os.Stat(filepath.Join(path, "a")))(t); !os.SameFile(kept, now) {
		t.Error("a finished file was made again")
	}
	if left := tempsIn(t, dir); left != nil || len(must.Get(os.ReadDir(path))(t)) != 4 {
		t.Errorf("left behind: %q", left)
	}
}

// Of a list that is cut off anywhere, or has a byte changed, the records before that place count, and new ones.
func TestDamagedListOfFinished(t *testing.T) {
	folder := must.Get(os.OpenRoot(t.TempDir()))(t)
	defer folder.Close()
	path := filepath.Join(folder.Name(), finishedName)
	open := func() *finishedList { return must.Get(openFinishedList(folder, isInFolder))(t) }
	l := open()
	for i := range 3 {
		must.Do(t, l.appendRecord(FinishedFile{Place: fmt.Sprint(i), Recipe: strings.Repeat("r", i), Rows: int64(i), Bytes: 7, Sum: 1 << 63}))
	}
	l.log.Close()
	whole, bytes := l.byPlace, must.Get(os.ReadFile(path))(t)
	check := func(damaged []byte, want int) {
		t.Helper()
		must.Do(t, os.WriteFile(path, damaged, 0o600))
		l := open()
		must.Do(t, l.appendRecord(FinishedFile{Place: "next"}))
		l.log.Close()
		l = open()
		l.log.Close()
		if _, ok := l.byPlace["next"]; !ok || len(l.byPlace) != want+1 {
			t.Errorf("of %q the files are %v, want %d and the next", damaged, l.byPlace, want)
		}
		for i := range want {
			if place := fmt.Sprint(i); fmt.Sprint(l.byPlace[place]) != fmt.Sprint(whole[place]) {
				t.Errorf("%q tells of %+v, want %+v", damaged, l.byPlace[place], whole[place])
			}
		}
	}
	for n := 0; n < len(bytes); n += 3 {
		before := strings.Count(string(bytes[:n]), "\n")
		check(bytes[:n], before)
		flipped := slices.Clone(bytes)
		flipped[n] ^= 1 << (n % 8)
		check(flipped, before)
	}
}

// A folder that a run is building is not taken from it.
func TestResumeDirTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	first := must.Get(ResumeDir(t.Context(), path, all))(t)
	build(t, first, "a", "x")
	_, err := ResumeDir(t.Context(), path, all)
	if out, ok := errors.AsType[*stream.OutputError](err); !ok || !strings.Contains(err.Error(), "another run is building it") || out.Remedy.Format == "" {
		t.Errorf("a second run: %v", err)
	}
	must.Do(t, first.Commit(t.Context()))
	if got := must.Files(t, path); len(got) != 1 {
		t.Errorf("the first run made %q", got)
	}
}

// A run that is killed at any step of Commit leaves a folder that the next run continues, whatever mode the new folder
// has by then.
func TestKilledInCommit(t *testing.T) {
	for _, step := range []string{"sync", "rename"} {
		for _, mode := range []fs.FileMode{0, 0o755, 0o777} {
			dir := t.TempDir()
			path := filepath.Join(dir, "out")
			if mode != 0 {
				must.Do(t, os.Mkdir(path, 0o700))
				must.Do(t, os.Chmod(path, mode))
			}
			killed := filepath.Join(t.TempDir(), "out")
			d := must.Get(ResumeDir(t.Context(), path, all))(t)
			build(t, d, "a", "text")
			err := d.Commit(faults.WithDisk(t.Context(), &faults.Disk{Change: func(_, what string) error {
				if what != step {
					return nil
				}
				// The files of the killed run are moved to a folder that no run has locked.
				from := filepath.Dir(d.Path())
				to := filepath.Join(filepath.Dir(killed), filepath.Base(from))
				must.Do(t, os.Mkdir(to, must.Get(os.Stat(from))(t).Mode().Perm()))
				for _, name := range []string{finishedName, outputName} {
					must.Do(t, os.Rename(filepath.Join(from, name), filepath.Join(to, name)))
				}
				return errors.New("killed")
			}}))
			if err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatalf("killed at %s, Commit reports %v", step, err)
			}
			again := must.Get(ResumeDir(t.Context(), killed, all))(t)
			if got := fates(t, again, "a"); !slices.Equal(got, []Fate{Whole}) || again.Remarks() != nil {
				t.Errorf("%s, mode %v: fates %v, remarks %q", step, mode, got, again.Remarks())
			}
			must.Do(t, again.Commit(t.Context()))
			if left := tempsIn(t, filepath.Dir(killed)); left != nil || must.Files(t, killed)["a"] != "text" {
				t.Errorf("%s, mode %v: %q are left of it", step, mode, left)
			}
		}
	}
}
