package ownfile

import (
	"errors"
	"io/fs"
	"os"
)

// ErrForeign is what errors are for something that is there and must not be used.
var ErrForeign = errors.New("it is not this user's own")

// foreignError is such an error by its reason.
type foreignError string

func (e foreignError) Error() string { return string(e) }

func (foreignError) Is(target error) bool { return target == ErrForeign } //nolint:errorlint // a sentinel

// Open opens the regular file called name. It creates nothing, and flag must not empty the file:
// what it is is known only once it is open.
func Open(in *os.Root, name string, flag int) (*os.File, error) {
	there, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := checkFile(there); err != nil {
		return nil, err
	}
	f, err := in.OpenFile(name, flag|doNotWait, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil {
		err = errors.Join(checkSame(there, opened), checkFile(opened))
	}
	for look := 0; err == nil && look < 3; look++ {
		err = checkAgain(in, name, opened)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// checkAgain checks that name still is the file opened, once every rename in the folder that was under way has ended.
// Linux counts the names of a file that a rename replaces before the name leads elsewhere: until then a second name of
// another file looks like its only one, to every look. Whoever reads the folder waits for its renames.
func checkAgain(in *os.Root, name string, opened fs.FileInfo) error {
	if folder, err := in.Open("."); err == nil { // else nobody may read it, and the looks have to do
		_, _ = folder.Readdirnames(1)
		folder.Close()
	}
	there, err := in.Lstat(name)
	if err != nil {
		return err
	}
	return errors.Join(checkSame(there, opened), checkFile(there))
}

// Make makes a new file called name, for reading and writing, in place of what has that name.
func Make(in *os.Root, name string, perm fs.FileMode) (*os.File, error) {
	if err := in.RemoveAll(name); err != nil {
		return nil, err
	}
	return in.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// OpenOrMake is Open for reading and writing, or Make if there is nothing or nothing to be used.
func OpenOrMake(in *os.Root, name string, perm fs.FileMode) (*os.File, error) {
	f, err := Open(in, name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrForeign) {
		return Make(in, name, perm)
	}
	return f, err
}

// OpenFolder opens the folder called name. What others may do in it, [OthersRights] says.
func OpenFolder(in *os.Root, name string) (*os.Root, error) {
	there, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := CheckFolder(there); err != nil {
		return nil, err
	}
	folder, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := folder.Stat(".")
	if err == nil {
		err = errors.Join(checkSame(there, opened), CheckFolder(opened))
	}
	if err != nil {
		folder.Close()
		return nil, err
	}
	return folder, nil
}

// CheckFolder is the error for what is no folder of this user.
func CheckFolder(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return foreignError("it is a symbolic link")
	case !info.IsDir():
		return foreignError("it is no folder")
	case !IsOurs(info):
		return foreignError("it belongs to another user")
	}
	return nil
}

// checkFile is the error for what is no regular file of this user alone. A second name of a file
// may be the one that its owner knows it by, whoever has linked the first.
func checkFile(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return foreignError("it is a symbolic link")
	case !info.Mode().IsRegular():
		return foreignError("it is no regular file")
	case !IsOurs(info):
		return foreignError("it belongs to another user")
	case hasOtherNames(info):
		return foreignError("the file has another name too, by a hard link")
	}
	return nil
}

// Look tells of the file called name, or has the error of Open for it, without opening it.
func Look(in *os.Root, name string) (fs.FileInfo, error) {
	info, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	return info, checkFile(info)
}

// checkSame is the error for a name that stood for something else a moment before.
func checkSame(before, now fs.FileInfo) error {
	if !os.SameFile(before, now) {
		return foreignError("it was replaced while it was opened")
	}
	return nil
}
