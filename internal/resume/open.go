package resume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// openRoot opens the folder, and makes it if it does not exist. States contain rows of the input, which other users
// must not read, and a run trusts the states it finds. So the folder must belong to this user, and must pass the checks
// of excludeOtherUsers.
func (f *Folder) openRoot() (err error) {
	f.path = filepath.Clean(f.path)
	parent, name := filepath.Dir(f.path), filepath.Base(f.path)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return f.errUnusable(f.path, stripPathError(err))
	}
	switch err := os.Mkdir(f.path, 0o700); {
	case err == nil:
		f.createdByOpen = true
	case !errors.Is(err, fs.ErrExist):
		return f.errUnusable(f.path, stripPathError(err))
	}
	if f.opt.Implicit { // a link with this name was not made for this run, so it is not followed
		f.dir, err = openImplicitFolder(parent, name)
	} else {
		f.dir, err = openNamedFolder(f.path)
	}
	if err != nil {
		return f.errUnusable(f.path, stripPathError(err))
	}
	if f.createdByOpen {
		return nil
	}
	if err := f.excludeOtherUsers(); err != nil {
		f.dir.Close()
		return err
	}
	return nil
}

// openImplicitFolder opens a folder that the user did not name. It does not follow a link.
func openImplicitFolder(parent, name string) (*os.Root, error) {
	in, err := os.OpenRoot(parent)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return ownfile.OpenFolder(in, name)
}

// openNamedFolder opens the folder at path, and follows links.
func openNamedFolder(path string) (*os.Root, error) {
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

// excludeOtherUsers removes the rights of other users on the states, and on the folder if it contains nothing else. It
// refuses a folder with other files in which other users can write, and a folder with a state that does not belong to
// this user.
func (f *Folder) excludeOtherUsers() error {
	onlyOurs := true
	for _, name := range f.listMatchingNames(func(string) bool { return true }) {
		if !isState(name) && !isUnfinishedState(name) && name != lockName {
			onlyOurs = false
			continue
		}
		info, err := ownfile.StatFile(f.dir, name)
		if err == nil && ownfile.OthersRights(info) != 0 { // an older release gave others these rights
			err = f.dir.Chmod(name, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f.errUnusable(filepath.Join(f.path, name), stripPathError(err))
		}
	}
	info, err := f.dir.Stat(".")
	if err != nil {
		return f.errUnusable(f.path, stripPathError(err))
	}
	switch rights := ownfile.OthersRights(info); {
	case rights == 0:
	case onlyOurs:
		if err := f.dir.Chmod(".", 0o700); err != nil {
			return f.errUnusable(f.path, fmt.Errorf("other users have rights in it: %w", stripPathError(err)))
		}
	case rights&0o022 != 0:
		return &stream.OutputError{Path: f.path, Err: errors.New("other users can write in it, and it holds more than a checkpoint"),
			Remedy: stream.Textf("name a folder of its own as {checkpoint}, or take that right away (chmod go-w)")}
	}
	return nil
}

func (f *Folder) errUnusable(path string, err error) error {
	remedy := stream.Textf("choose another {checkpoint} folder")
	switch {
	case path != f.path:
		remedy = stream.Textf("remove it, or choose another {checkpoint} folder")
	case errors.Is(err, ownfile.ErrForeign):
		remedy = stream.Textf("name a new folder as {checkpoint}; it may be below this one")
	}
	return &stream.OutputError{Path: path, Err: err, Remedy: remedy}
}
