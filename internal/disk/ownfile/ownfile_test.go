//go:build unix

package ownfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// another is a user that the tests do not run as.
const another = 65534

// plants are things that somebody may put at a name, and whether they are of use as a file.
var plants = []struct {
	name  string
	ours  bool
	plant func(t *testing.T, at, victim string)
}{
	{"a file", true, func(t *testing.T, at, _ string) { must.Do(t, os.WriteFile(at, []byte("old"), 0o600)) }},
	{"an absolute link", false, func(t *testing.T, at, victim string) { must.Do(t, os.Symlink(victim, at)) }},
	{"a link in the folder", false, func(t *testing.T, at, _ string) {
		must.Do(t, os.WriteFile(at+".other", nil, 0o600))
		must.Do(t, os.Symlink(filepath.Base(at)+".other", at))
	}},
	{"a link to nothing", false, func(t *testing.T, at, _ string) { must.Do(t, os.Symlink("nothing", at)) }},
	{"a hard link", false, func(t *testing.T, at, victim string) { must.Do(t, os.Link(victim, at)) }},
	{"a pipe", false, func(t *testing.T, at, _ string) { must.Do(t, syscall.Mkfifo(at, 0o600)) }},
	{"a folder", false, func(t *testing.T, at, _ string) { must.Do(t, os.MkdirAll(filepath.Join(at, "x"), 0o700)) }},
	{"a file of another user", false, func(t *testing.T, at, _ string) {
		must.Do(t, os.WriteFile(at, []byte("old"), 0o666))
		if os.Geteuid() != 0 {
			t.Log("only root can make files of others: an empty link stands for one")
			must.Do(t, os.Remove(at))
			must.Do(t, os.Symlink("nothing", at))
			return
		}
		must.Do(t, os.Chown(at, another, another))
	}},
}

// TestPlanted: only a file of this user alone is opened, and anything unusable at its name is replaced where
// allowed; the target of a link stays as it is.
func TestPlanted(t *testing.T) {
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
			must.Do(t, os.WriteFile(victim, []byte("victim's"), 0o600))
			in := must.Get(os.OpenRoot(dir))(t)
			defer in.Close()
			p.plant(t, filepath.Join(dir, "name"), victim)
			for _, flag := range []int{os.O_RDONLY, os.O_RDWR} {
				f, err := ownfile.Open(in, "name", flag)
				if f != nil {
					f.Close()
				}
				if p.ours != (err == nil) || !p.ours && !errors.Is(err, ownfile.ErrForeign) {
					t.Errorf("opened with %d: %v, of use %t", flag, err, p.ours)
				}
			}
			if _, err := ownfile.StatFile(in, "name"); p.ours != (err == nil) {
				t.Errorf("looked at: %v, of use %t", err, p.ours)
			}
			f := must.Get(ownfile.OpenOrCreate(in, "name", 0o600))(t)
			must.Get(f.WriteString("new"))(t)
			must.Do(t, f.Close())
			for path, want := range map[string]string{victim: "victim's", filepath.Join(dir, "name"): "new"} {
				if got := string(must.Get(os.ReadFile(path))(t)); got != want {
					t.Errorf("%s has %q, want %q", path, got, want)
				}
			}
		})
	}
}

// TestOpenFolder: only a folder of this user is opened, and no link to one.
func TestOpenFolder(t *testing.T) {
	dir := t.TempDir()
	in := must.Get(os.OpenRoot(dir))(t)
	defer in.Close()
	must.Do(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	must.Do(t, os.Symlink("folder", filepath.Join(dir, "link")))
	must.Do(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	wants := map[string]error{"folder": nil, "link": ownfile.ErrForeign, "pipe": ownfile.ErrForeign, "nothing": fs.ErrNotExist}
	if os.Geteuid() == 0 {
		must.Do(t, os.Mkdir(filepath.Join(dir, "other's"), 0o777))
		must.Do(t, os.Chown(filepath.Join(dir, "other's"), another, another))
		wants["other's"] = ownfile.ErrForeign
	}
	for name, want := range wants {
		folder, err := ownfile.OpenFolder(in, name)
		if folder != nil {
			folder.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

// TestSwapped: a name that stands for a file of this user and, a moment later, for a link to another of them, or
// the other way round, gives the one file or an error.
func TestSwapped(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	must.Do(t, os.WriteFile(victim, []byte("victim's"), 0o600))
	in := must.Get(os.OpenRoot(dir))(t)
	defer in.Close()
	at := func(name string) string { return filepath.Join(dir, name) }
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			for _, plant := range []func() error{
				func() error { return os.WriteFile(at("next"), nil, 0o600) },
				func() error { return os.Symlink(victim, at("next")) },
				func() error { return os.WriteFile(at("next"), nil, 0o600) },
				func() error { return os.Link(victim, at("next")) },
			} {
				select {
				case <-stop:
					return
				default:
				}
				if err := errors.Join(plant(), os.Rename(at("next"), at("name"))); err != nil {
					t.Errorf("got error %v, want none", err)
					return
				}
				_ = os.Remove(at("next")) // rename leaves it if both names belong to one file
			}
		}
	})
	opened, refused := 0, 0
	for range 20000 {
		f, err := ownfile.Open(in, "name", os.O_RDWR)
		if err != nil {
			refused++
			continue
		}
		opened++
		must.Get(f.WriteString("overwritten"))(t)
		must.Do(t, f.Close())
	}
	close(stop)
	swapping.Wait()
	if got := string(must.Get(os.ReadFile(victim))(t)); got != "victim's" || opened == 0 || refused == 0 {
		t.Errorf("the victim has %q after %d times opened and %d refused", got, opened, refused)
	}
}

// TestKeepMode: a file takes over the mode of another; the group too, or it has no more rights than everybody.
func TestKeepMode(t *testing.T) {
	dir := t.TempDir()
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o644, 0o666, 0o444, 0o755} {
		was, f := filepath.Join(dir, "was"), must.Get(os.Create(filepath.Join(dir, "is")))(t)
		must.Do(t, os.WriteFile(was, nil, 0o600))
		must.Do(t, os.Chmod(was, mode|fs.ModeSetuid))
		must.Do(t, ownfile.CopyMode(f, must.Get(os.Stat(was))(t)))
		if got := must.Get(f.Stat())(t).Mode(); got != mode {
			t.Errorf("mode %v, want %v", got, mode)
		}
		must.Do(t, f.Close())
		must.Do(t, os.Remove(was))
	}
}
