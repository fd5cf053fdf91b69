package ownfile

import (
	"errors"
	"io/fs"
	"os"
)

// ErrForeign matches errors for an existing file or folder that must not be used.
var ErrForeign = errors.New("it is not this user's own")

// foreignError is such an error, with its reason.
type foreignError string

func (e foreignError) Error() string { return string(e) }

func (foreignError) Is(target error) bool { return target == ErrForeign } //nolint:errorlint // a sentinel

// Open opens the regular file called name. It creates nothing, and flag must not truncate the file, because its
// checks come after opening.
func Open(in *os.Root, name string, flag int) (*os.File, error) {
	listed, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := checkFile(listed); err != nil {
		return nil, err
	}
	f, err := in.OpenFile(name, flag|doNotWait, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil {
		err = errors.Join(checkSame(listed, opened), checkFile(opened))
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

// checkAgain checks that name still is the file opened, after all renames in the folder that were under way.
// Linux lowers the link count of a file replaced by a rename before the name leads elsewhere: until then a
// second name of another file looks like its only one, at every look. Reading the folder waits for its renames.
func checkAgain(in *os.Root, name string, opened fs.FileInfo) error {
	if folder, err := in.Open("."); err == nil { // else nobody may read it, and the looks must suffice
		_, _ = folder.Readdirnames(1)
		folder.Close()
	}
	listed, err := in.Lstat(name)
	if err != nil {
		return err
	}
	return errors.Join(checkSame(listed, opened), checkFile(listed))
}

// CreateNew creates a new file called name, for reading and writing, and replaces anything that has that name.
func CreateNew(in *os.Root, name string, perm fs.FileMode) (*os.File, error) {
	if err := in.RemoveAll(name); err != nil {
		return nil, err
	}
	return in.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// OpenOrCreate is Open for reading and writing, or CreateNew if there is no usable file.
func OpenOrCreate(in *os.Root, name string, perm fs.FileMode) (*os.File, error) {
	f, err := Open(in, name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrForeign) {
		return CreateNew(in, name, perm)
	}
	return f, err
}

// OpenFolder opens the folder called name. [OthersRights] has the rights of others in it.
func OpenFolder(in *os.Root, name string) (*os.Root, error) {
	listed, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := CheckFolder(listed); err != nil {
		return nil, err
	}
	folder, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := folder.Stat(".")
	if err == nil {
		err = errors.Join(checkSame(listed, opened), CheckFolder(opened))
	}
	if err != nil {
		folder.Close()
		return nil, err
	}
	return folder, nil
}

// CheckFolder returns an error if this is not a folder of this user.
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

// checkFile returns an error if this is not a regular file of this user alone. A second name of a file may be
// the owner's own, if somebody else has made the first by a link.
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

// StatFile returns the description of the file called name, or the error of Open for it, without opening it.
func StatFile(in *os.Root, name string) (fs.FileInfo, error) {
	info, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	return info, checkFile(info)
}

// checkSame returns an error if the name led to another file a moment before.
func checkSame(before, now fs.FileInfo) error {
	if !os.SameFile(before, now) {
		return foreignError("it was replaced while it was opened")
	}
	return nil
}
