//go:build unix

package resume

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// another is a user that the tests do not run as.
const another = 65534

// asRoot reports whether files can be given to another user.
func asRoot(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("not root: there are no files of another user to test with")
		return false
	}
	return true
}

// TestPrivateFolder: a checkpoint is this user's alone, even if the umask gives rights to others.
func TestPrivateFolder(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "state")
	f, r, err := reopened(t, dir, Options{Every: -1}, ofRun())
	must.Do(t, err)
	n := Numbers{r}
	must.Do(t, n.Save(t.Context(), "one", nil, []float64{1}))
	must.Do(t, n.Append(t.Context(), "two", nil, []float64{2}))
	rows := must.Get(f.OpenRun("rows", ofRun()))(t)
	s := rows.OpenStages(nil)
	st := s.Stage("x", stream.InMemory{})
	must.Get(st.Make("a file", fileBytes, fileRecord))(t)
	must.Do(t, st.Save(t.Context(), 1))
	if got := must.Get(os.Stat(dir))(t).Mode().Perm(); got != 0o700 {
		t.Errorf("the folder has mode %v", got)
	}
	entries := must.Get(os.ReadDir(dir))(t)
	if len(entries) != 5 { // the lock, the log, a state, the stage and its file
		t.Errorf("the test does not test: there are %v", entries)
	}
	for _, e := range entries {
		if got := must.Get(e.Info())(t).Mode(); got != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), got)
		}
	}
	must.Do(t, f.Close())
}

// TestFolderOfOthersRights: an earlier checkpoint that others can read or write is closed to them and
// continued; a folder that holds other files stays as it is, and is refused if others can write there.
func TestFolderOfOthersRights(t *testing.T) {
	for _, c := range []struct {
		name       string
		mode, want fs.FileMode
		more       bool
		refused    bool
	}{
		{"read by all", 0o755, 0o700, false, false}, {"written by all", 0o777 | fs.ModeSticky, 0o700, false, false}, {"of a group", 0o770, 0o700, false, false},
		{"read by all, with something else", 0o755, 0o755, true, false}, {"written by all, with something else", 0o777, 0o777, true, true},
		{"of a group, with something else", 0o775, 0o775, true, true}, {"private, with something else", 0o700, 0o700, true, false},
	} {
		dir := saved(t)
		entries := must.Get(os.ReadDir(dir))(t)
		for _, e := range entries {
			must.Do(t, os.Chmod(filepath.Join(dir, e.Name()), 0o644))
		}
		if c.more {
			must.Do(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600))
		}
		must.Do(t, os.Chmod(dir, c.mode))
		f, err := Open(dir, Options{})
		if out, ok := errors.AsType[*stream.OutputError](err); c.refused != ok || ok && (out.Remedy.Format == "" || !strings.Contains(err.Error(), dir)) {
			t.Errorf("%s: %v, want it refused %t", c.name, err, c.refused)
		}
		if got := must.Get(os.Stat(dir))(t).Mode().Perm(); got != c.want.Perm() {
			t.Errorf("%s: mode %v, want %v", c.name, got, c.want)
		}
		if err != nil {
			continue
		}
		r := must.Get(f.OpenRun("part", ofRun()))(t)
		got := make([]float64, 3)
		if _, ok, err := (Numbers{r}).Load(t.Context(), "one", got, nil); !ok || err != nil || !slices.Equal(got, []float64{1, 2, 3}) {
			t.Errorf("%s: gone on with %v, %t, %v", c.name, got, ok, err)
		}
		for _, e := range entries {
			if got := must.Get(os.Stat(filepath.Join(dir, e.Name())))(t).Mode(); got != 0o600 {
				t.Errorf("%s: %s has mode %v", c.name, e.Name(), got)
			}
		}
		must.Do(t, f.Close())
	}
}

// TestPlantedInFolder: anything but a file of this user alone at the name of a lock, a log or a state is
// refused, with its name and a remedy, and link targets stay as they were.
func TestPlantedInFolder(t *testing.T) {
	for _, name := range []string{lockName, logName, "part.one.0" + Suffix, "part.x.0" + dataSuffix, ".part.one.0" + Suffix + ".1-00000001.ufs-tmp"} {
		for what, plant := range map[string]func(at, victim string) error{
			"a link":      func(at, victim string) error { return os.Symlink(victim, at) },
			"a hard link": func(at, victim string) error { return os.Link(victim, at) },
			"a pipe":      func(at, _ string) error { return syscall.Mkfifo(at, 0o600) },
			"a file of another user": func(at, _ string) error {
				if !asRoot(t) {
					return os.Symlink("nothing", at)
				}
				return errors.Join(os.WriteFile(at, []byte("planted"), 0o666), os.Chown(at, another, another))
			},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				dir, victim := saved(t), filepath.Join(t.TempDir(), "victim")
				must.Do(t, os.WriteFile(victim, []byte("victim's"), 0o600))
				at := filepath.Join(dir, name)
				must.Do(t, os.RemoveAll(at))
				must.Do(t, plant(at, victim))
				for _, unasked := range []bool{false, true} {
					_, err := Open(dir, Options{Implicit: unasked})
					if out, ok := errors.AsType[*stream.OutputError](err); !ok || out.Path != at || !strings.Contains(out.Remedy.String(), "remove it") {
						t.Errorf("unasked %t: %v, want an error about %s", unasked, err, at)
					}
				}
				if got := string(must.Get(os.ReadFile(victim))(t)); got != "victim's" {
					t.Errorf("the victim has %q", got)
				}
				must.Get(os.Lstat(at))(t)
			})
		}
	}
}

// TestPlantedLater: anything that appears at the name of a state, a log or a scratch file during a run is not
// followed either.
func TestPlantedLater(t *testing.T) {
	own := t.TempDir()
	victim := filepath.Join(own, "victim")
	must.Do(t, os.WriteFile(victim, []byte("victim's"), 0o600))
	for _, plant := range []func(string, string) error{os.Symlink, os.Link} {
		dir := filepath.Join(t.TempDir(), "state")
		_, r, err := reopened(t, dir, Options{Every: -1}, ofRun())
		must.Do(t, err)
		s := r.OpenStages(nil)
		st := s.Stage("x", stream.InMemory{})
		f := must.Get(st.Make("a file", fileBytes, fileRecord))(t)
		raise(t, f, stream.ScratchWrite)
		for _, name := range []string{"part.one.0" + Suffix, logName, "part.x.0" + dataSuffix} {
			must.Do(t, plant(victim, filepath.Join(dir, name)))
		}
		n := Numbers{r}
		if _, _, err := n.Load(t.Context(), "one", make([]float64, 1)); err != nil {
			t.Errorf("before the folder has states none is looked for: %v", err)
		}
		must.Do(t, n.Save(t.Context(), "one", nil, []float64{1})) // in place of the link
		must.Do(t, os.Remove(filepath.Join(dir, "part.one.0"+Suffix)))
		must.Do(t, plant(victim, filepath.Join(dir, "part.one.0"+Suffix)))
		if _, _, err := n.Load(t.Context(), "one", make([]float64, 1)); err == nil {
			t.Error("a link is read as a state")
		}
		must.Do(t, n.Append(t.Context(), "two", nil, []float64{2})) // to the log in place of the link
		if err := st.Save(t.Context(), 1); err == nil {
			t.Error("a link is written as a scratch file")
		}
		if got := must.Files(t, own); len(got) != 1 || got["victim"] != "victim's" {
			t.Errorf("the victim's folder has %q", got)
		}
	}
}

// TestPlantedFolder: a folder of another user cannot be a checkpoint, nor can a link at the name of a folder
// that no user has named; a link that the user names is followed. Forgetting
// such a folder does nothing, without an error.
func TestPlantedFolder(t *testing.T) {
	dir := t.TempDir()
	folder, link, pipe := filepath.Join(dir, "folder"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	must.Do(t, os.Mkdir(folder, 0o700))
	must.Do(t, os.Symlink("folder", link))
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	must.Do(t, must.Get(Open(link, Options{}))(t).Close())
	unusable := map[string][]bool{link: {true}, pipe: {false, true}}
	if asRoot(t) {
		others := filepath.Join(dir, "other's")
		must.Do(t, os.Mkdir(others, 0o700))
		must.Do(t, os.Chmod(others, 0o777))
		must.Do(t, os.Chown(others, another, another))
		unusable[others] = []bool{false, true}
	}
	for path, unasked := range unusable {
		for _, unasked := range unasked {
			_, err := Open(path, Options{Implicit: unasked})
			if out, ok := errors.AsType[*stream.OutputError](err); !ok || out.Path != path || out.Remedy.Format == "" {
				t.Errorf("%s, unasked %t: %v", path, unasked, err)
			}
			if err := Forget(path, Options{Implicit: true}); err != nil {
				t.Errorf("%s is to be forgotten: %v", path, err)
			}
			must.Get(os.Lstat(path))(t)
		}
	}
	if left := must.Get(os.ReadDir(folder))(t); len(left) > 0 {
		t.Errorf("where the link leads to there are %v", left)
	}
}
