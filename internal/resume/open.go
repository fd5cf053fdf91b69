package resume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/internal/ownfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// openRoot makes and opens the folder. States hold rows of the input, and a run goes on from whatever they hold: the
// folder is this user's, and nobody else can write in it or has put anything in it that would be used.
func (f *Folder) openRoot() (err error) {
	f.path = filepath.Clean(f.path)
	parent, name := filepath.Dir(f.path), filepath.Base(f.path)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return f.unusable(f.path, plain(err))
	}
	switch err := os.Mkdir(f.path, 0o700); {
	case err == nil:
		f.made = true
	case !errors.Is(err, fs.ErrExist):
		return f.unusable(f.path, plain(err))
	}
	if f.opt.Unasked { // a link there was made by nobody who knew of this run
		f.root, err = openUnasked(parent, name)
	} else {
		f.root, err = openAsked(f.path)
	}
	if err != nil {
		return f.unusable(f.path, plain(err))
	}
	if f.made {
		return nil
	}
	if err := f.shutOut(); err != nil {
		f.root.Close()
		return err
	}
	return nil
}

// openUnasked opens the folder of that name, which no user has named.
func openUnasked(parent, name string) (*os.Root, error) {
	in, err := os.OpenRoot(parent)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return ownfile.OpenFolder(in, name)
}

// openAsked opens the folder at path, through links too.
func openAsked(path string) (*os.Root, error) {
	info, err := os.Stat(path) // before opening: opening a pipe waits for its writer
	if err != nil {
		return nil, err
	}
	if err := ownfile.CheckFolder(info); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	if info, err = root.Stat("."); err == nil {
		err = ownfile.CheckFolder(info)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// shutOut takes from others the rights in states, and in a folder that holds nothing else. It refuses one that
// they can write in and that is there for something else too, and one with a state that is not this user's.
func (f *Folder) shutOut() error {
	own := true
	for _, name := range f.names(func(string) bool { return true }) {
		if !isState(name) && !isDebris(name) && name != lockName {
			own = false
			continue
		}
		info, err := ownfile.Look(f.root, name)
		if err == nil && ownfile.OthersRights(info) != 0 { // an older release has made it
			err = f.root.Chmod(name, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f.unusable(filepath.Join(f.path, name), plain(err))
		}
	}
	info, err := f.root.Stat(".")
	if err != nil {
		return f.unusable(f.path, plain(err))
	}
	switch rights := ownfile.OthersRights(info); {
	case rights == 0:
	case own:
		if err := f.root.Chmod(".", 0o700); err != nil {
			return f.unusable(f.path, fmt.Errorf("other users have rights in it: %w", plain(err)))
		}
	case rights&0o022 != 0:
		return &stream.OutputError{Path: f.path, Err: errors.New("other users can write in it, and it holds more than a checkpoint"),
			Remedy: stream.Textf("name a folder of its own as {checkpoint}, or take that right away (chmod go-w)")}
	}
	return nil
}

// unusable is the error for a folder, or what is in it, that no checkpoint can be in.
func (f *Folder) unusable(path string, err error) error {
	remedy := stream.Textf("choose another {checkpoint} folder")
	switch {
	case path != f.path:
		remedy = stream.Textf("remove it, or choose another {checkpoint} folder")
	case errors.Is(err, ownfile.ErrForeign):
		remedy = stream.Textf("name a new folder as {checkpoint}; it may be below this one")
	}
	return &stream.OutputError{Path: path, Err: err, Remedy: remedy}
}
