//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

const (
	// another is a user that the tests do not run as.
	another     = 65534
	plantedTemp = ".out.1-00000001" + tempSuffix
)

// giveAway gives a path to another user, which only root can: else its test has nothing to test.
func giveAway(t *testing.T, paths ...string) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("not root: there are no files of another user to test with")
		return false
	}
	for _, path := range paths {
		must.Do(t, os.Lchown(path, another, another))
	}
	return true
}

// plantFolder makes a temporary folder with a plant at each of the names that a run opens in it.
func plantFolder(t *testing.T, temp string, mode fs.FileMode, plant func(at string) error) {
	t.Helper()
	must.Do(t, os.Mkdir(temp, 0o700))
	for _, name := range []string{finishedName, outputName, "a"} {
		must.Do(t, plant(filepath.Join(temp, name)))
	}
	must.Do(t, os.Chmod(temp, mode))
}

// TestPlantedTemporaries: whoever put something at the place of an interrupted run's leftovers, a run writes
// only its output: files behind links stay unchanged, and other users' files stay.
func TestPlantedTemporaries(t *testing.T) {
	for _, c := range []struct {
		name   string
		plant  func(t *testing.T, temp, victim string) (possible bool)
		stays  bool
		remark string
	}{
		{"of another user", func(t *testing.T, temp, victim string) bool {
			plantFolder(t, temp, 0o755, func(at string) error { return os.Symlink(victim, at) })
			return giveAway(t, temp)
		}, true, "is left alone and not used: it belongs to another user"},
		{"of another user, who lets all write", func(t *testing.T, temp, _ string) bool {
			plantFolder(t, temp, 0o777, func(at string) error { return os.WriteFile(at, []byte("planted"), 0o600) })
			return giveAway(t, temp)
		}, true, "it belongs to another user"},
		{"a file of another user", func(t *testing.T, temp, _ string) bool {
			must.Do(t, os.WriteFile(temp, nil, 0o666))
			return giveAway(t, temp)
		}, true, "it belongs to another user"},
		{"a link to a folder", func(t *testing.T, temp, victim string) bool {
			must.Do(t, os.Symlink(filepath.Dir(victim), temp))
			return true
		}, true, "it is a symbolic link"},
		{"a folder that others write", func(t *testing.T, temp, victim string) bool {
			plantFolder(t, temp, 0o777, func(at string) error { return os.Symlink(victim, at) })
			return true
		}, true, "other users can write there"},
		{"a folder of this user that is no temporary", func(t *testing.T, temp, _ string) bool {
			must.Do(t, os.Mkdir(temp, 0o755))
			must.Do(t, os.WriteFile(filepath.Join(temp, "results"), []byte("results"), 0o600))
			return true
		}, true, "no run of this program made it"},
		{"links", func(t *testing.T, temp, victim string) bool {
			plantFolder(t, temp, 0o700, func(at string) error { return os.Symlink(victim, at) })
			return true
		}, false, ""},
		{"links to a folder", func(t *testing.T, temp, victim string) bool {
			plantFolder(t, temp, 0o700, func(at string) error { return os.Symlink(filepath.Dir(victim), at) })
			return true
		}, false, ""},
		{"hard links", func(t *testing.T, temp, victim string) bool {
			plantFolder(t, temp, 0o700, func(at string) error { return os.Link(victim, at) })
			return true
		}, false, ""},
		{"pipes", func(t *testing.T, temp, _ string) bool {
			plantFolder(t, temp, 0o700, func(at string) error { return syscall.Mkfifo(at, 0o600) })
			return true
		}, false, ""},
		{"folders", func(t *testing.T, temp, _ string) bool {
			plantFolder(t, temp, 0o700, func(at string) error { return os.MkdirAll(filepath.Join(at, "x"), 0o700) })
			return true
		}, false, ""},
	} {
		for kind, run := range map[string]func(t *testing.T, path string) []string{
			"growing": func(t *testing.T, path string) []string {
				f, marks, err := ResumeFile(t.Context(), path, func(FinishedFile) bool { return true })
				must.Do(t, err)
				if len(marks) > 0 {
					t.Errorf("%d marks are taken over", len(marks))
				}
				grow(t, f, nil, "the ", "output")
				must.Do(t, f.Commit())
				return f.Remarks()
			},
			"folder": func(t *testing.T, path string) []string {
				d := must.Get(ResumeDir(t.Context(), path, all))(t)
				if got := fates(t, d, "a", "a/x"); !slices.Equal(got, []Fate{Unfinished, Unfinished}) {
					t.Errorf("fates %v", got)
				}
				build(t, d, "a/x", "the output")
				must.Do(t, d.Commit(t.Context()))
				return d.Remarks()
			},
			"plain": func(t *testing.T, path string) []string {
				f := must.Get(Create(t.Context(), path))(t)
				must.Get(f.Write([]byte("the output")))(t)
				must.Do(t, f.Commit())
				return nil
			},
		} {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				shared, own := t.TempDir(), t.TempDir()
				victim, path, temp := filepath.Join(own, "victim"), filepath.Join(shared, "out"), filepath.Join(shared, plantedTemp)
				must.Do(t, os.WriteFile(victim, []byte("victim's"), 0o600))
				if !c.plant(t, temp, victim) {
					return
				}
				before := must.Get(os.Lstat(temp))(t)
				remarks := run(t, path)
				if got := must.Files(t, own); len(got) != 1 || got["victim"] != "victim's" {
					t.Errorf("the victim's folder has %q", got)
				}
				out := path
				if kind == "folder" {
					out = filepath.Join(path, "a", "x")
				}
				if got := string(must.Get(os.ReadFile(out))(t)); got != "the output" {
					t.Errorf("the output is %q", got)
				}
				after, err := os.Lstat(temp)
				if stays := err == nil && os.SameFile(before, after); stays != c.stays {
					t.Errorf("what was planted stays: %t, want %t", stays, c.stays)
				}
				if kind == "plain" {
					return
				}
				if said := strings.Join(remarks, "\n"); c.remark == "" && said != "" || !strings.Contains(said, c.remark) || c.remark != "" && !strings.Contains(said, temp) {
					t.Errorf("remarks %q, want one of %s that has %q", said, temp, c.remark)
				}
			})
		}
	}
}

// TestLinkedFolderInTemporary: a link in a temporary folder, at the place of a folder of the output, is
// followed neither when removing nor when writing.
func TestLinkedFolderInTemporary(t *testing.T) {
	own := t.TempDir()
	victim := filepath.Join(own, "x")
	must.Do(t, os.WriteFile(victim, []byte("victim's"), 0o600))
	path := filepath.Join(t.TempDir(), "out")
	d := must.Get(ResumeDir(t.Context(), path, all))(t)
	build(t, d, "a/x", "victim's")
	temp := leave(t, d)
	must.Do(t, os.RemoveAll(filepath.Join(temp, outputName, "a")))
	must.Do(t, os.Symlink(own, filepath.Join(temp, outputName, "a")))

	d = must.Get(ResumeDir(t.Context(), path, all))(t)
	if got := fates(t, d, "a/x"); !slices.Equal(got, []Fate{Altered}) {
		t.Errorf("fates %v, want that of an altered file", got)
	}
	must.Do(t, os.Symlink(own, filepath.Join(d.Path(), "a"))) // during the run
	if f, err := d.Create(t.Context(), "a/x"); err == nil {
		f.Close()
		t.Error("a file is made behind a link")
	}
	must.Do(t, d.Abort(t.Context()))
	if got := must.Files(t, own); len(got) != 1 || got["x"] != "victim's" {
		t.Errorf("the victim's folder has %q", got)
	}
}

// umask sets the umask until the test ends.
func umask(t *testing.T, mask int) {
	t.Helper()
	was := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(was) })
}

// TestModes: a new output has the mode that the umask leaves; one that replaces a file of this user has the mode
// of that, and one that replaces a file of somebody else no right that either would not have.
func TestModes(t *testing.T) {
	commits := map[string]func(t *testing.T, path string){
		"plain": func(t *testing.T, path string) {
			f := must.Get(Create(t.Context(), path))(t)
			if _, err := os.Lstat(path); err == nil {
				if info := must.Get(os.Stat(filepath.Join(filepath.Dir(path), f.temp)))(t); info.Mode()&0o022 != 0 {
					t.Errorf("while it is written others may write it: %v", info.Mode())
				}
			}
			must.Do(t, f.Commit())
		},
		"growing": func(t *testing.T, path string) {
			f, _, err := ResumeFile(t.Context(), path, func(FinishedFile) bool { return true })
			must.Do(t, err)
			must.Do(t, f.Commit())
		},
	}
	const none fs.FileMode = 0
	for _, c := range []struct {
		mask        int
		there, want fs.FileMode
		others      bool
	}{
		{0o022, none, 0o644, false}, {0o002, none, 0o664, false}, {0o077, none, 0o600, false}, {0, none, 0o666, false},
		{0o022, 0o600, 0o600, false}, {0o022, 0o640, 0o640, false}, {0o077, 0o644, 0o644, false}, {0o022, 0o666, 0o666, false},
		{0o022, 0o755, 0o755, false}, {0o022, 0o444, 0o444, false},
		{0o022, 0o600, 0o600, true}, {0o022, 0o666, 0o644, true}, {0o002, 0o644, 0o644, true}, {0o022, 0o777, 0o644, true},
	} {
		for kind, commit := range commits {
			path := filepath.Join(t.TempDir(), "out")
			umask(t, c.mask)
			if c.there != none {
				must.Do(t, os.WriteFile(path, []byte("old"), 0o600))
				must.Do(t, os.Chmod(path, c.there))
			}
			if c.others && !giveAway(t, path) {
				continue
			}
			commit(t, path)
			if got := must.Get(os.Stat(path))(t).Mode(); got != c.want {
				t.Errorf("%s, umask %03o, in place of %v (of others: %t): mode %v, want %v", kind, c.mask, c.there, c.others, got, c.want)
			}
		}
	}
}

// TestReplacedLink: an output at the place of a link that the user has made replaces the link; the link's
// target stays.
func TestReplacedLink(t *testing.T) {
	dir := t.TempDir()
	elsewhere, link := filepath.Join(dir, "elsewhere"), filepath.Join(dir, "link")
	must.Do(t, os.WriteFile(elsewhere, []byte("old"), 0o600))
	must.Do(t, os.Symlink(elsewhere, link))
	f := must.Get(Create(t.Context(), link))(t)
	must.Get(f.Write([]byte("new")))(t)
	must.Do(t, f.Commit())
	if got := must.Files(t, dir); got["elsewhere"] != "old" || got["link"] != "new" {
		t.Errorf("there are %q", got)
	}
	// A link in the path of the folder is followed.
	must.Do(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	must.Do(t, os.Symlink("folder", filepath.Join(dir, "to folder")))
	f = must.Get(Create(t.Context(), filepath.Join(dir, "to folder", "out")))(t)
	must.Do(t, f.Commit())
	must.Get(os.Stat(filepath.Join(dir, "folder", "out")))(t)
}

// TestFolderModes: others have no rights in a folder while it is built; then it has the mode that the umask leaves,
// or that of the empty folder it replaces.
func TestFolderModes(t *testing.T) {
	const none fs.FileMode = 0
	for _, c := range []struct {
		mask        int
		there, want fs.FileMode
	}{{0o022, none, 0o755}, {0o002, none, 0o775}, {0o077, none, 0o700}, {0, none, 0o777}, {0o022, 0o750, 0o750}, {0o022, 0o700, 0o700}, {0o077, 0o777, 0o777}} {
		path := filepath.Join(t.TempDir(), "out")
		umask(t, c.mask)
		if c.there != none {
			must.Do(t, os.Mkdir(path, 0o700))
			must.Do(t, os.Chmod(path, c.there))
		}
		d := must.Get(ResumeDir(t.Context(), path, all))(t)
		if got := must.Get(os.Stat(filepath.Dir(d.Path())))(t).Mode().Perm(); got != 0o700 {
			t.Errorf("umask %03o: while it is built the mode is %v", c.mask, got)
		}
		build(t, d, "a/b", "x")
		must.Do(t, d.Commit(t.Context()))
		if got := must.Get(os.Stat(path))(t).Mode().Perm(); got != c.want {
			t.Errorf("umask %03o, in place of %v: mode %v, want %v", c.mask, c.there, got, c.want)
		}
		if got, want := must.Get(os.Stat(filepath.Join(path, "a", "b")))(t).Mode().Perm(), fs.FileMode(0o666)&^fs.FileMode(c.mask); got != want {
			t.Errorf("umask %03o: a file in it has mode %v, want %v", c.mask, got, want)
		}
		if names := must.Get(os.ReadDir(path))(t); len(names) != 1 {
			t.Errorf("it holds %v", names)
		}
	}
}

// TestPrivate: a private output is unreadable for other users from its first moment on, whatever it replaces.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	must.Do(t, os.WriteFile(path, nil, 0o600))
	must.Do(t, os.Chmod(path, 0o644))
	f := must.Get(CreatePrivate(t.Context(), path))(t)
	temp := must.Get(os.Stat(filepath.Join(dir, f.temp)))(t)
	must.Do(t, f.Commit())
	if got := must.Get(os.Stat(path))(t).Mode(); temp.Mode() != 0o600 || got != 0o600 {
		t.Errorf("mode %v, and in the end %v", temp.Mode(), got)
	}
	s := must.Get(NewSpool(dir, "spool"))(t)
	defer s.Close()
	if got := must.Get(s.Stat())(t).Mode(); got != 0o600 {
		t.Errorf("a spool has mode %v", got)
	}
}
