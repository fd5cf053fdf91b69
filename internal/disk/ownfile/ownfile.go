package ownfile

import (
	"errors"
	"io/fs"
	"os"
)

// ErrForeign matches errors for an existing file or folder that must not be used.
var ErrForeign = errors.New("it is not this user's own")

// foreignError is an error that matches ErrForeign; its text is the reason.
type foreignError string

func (e foreignError) Error() string { return string(e) }

func (foreignError) Is(target error) bool { return target == ErrForeign } //nolint:errorlint // a sentinel

// Open opens the regular file called name in a folder. It does not create a file. flag must not truncate the file,
// because the checks follow the opening.
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
		err = recheckName(in, name, opened)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// recheckName checks that name is still the name of the opened file, after renames in progress have ended. If a rename
// replaces a file, Linux lowers the link count of this file before the name leads to the new file. In the meantime a
// file with a second name seems to have only one, however often it is examined. Reading the folder first ends this
// state, because it waits for renames.
func recheckName(in *os.Root, name string, opened fs.FileInfo) error {
	if folder, err := in.Open("."); err == nil { // if the folder cannot be read, the check by Lstat below must suffice
		_, _ = folder.Readdirnames(1)
		folder.Close()
	}
	listed, err := in.Lstat(name)
	if err != nil {
		return err
	}
	return errors.Join(checkSame(listed, opened), checkFile(listed))
}

// CreateNew creates a file called name for reading and writing. It first removes anything that has this name.
func CreateNew(in *os.Root, name string, perm fs.FileMode) (*os.File, error) {
	if err := in.RemoveAll(name); err != nil {
		return nil, err
	}
	return in.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// OpenOrCreate opens a file for reading and writing like Open, or creates it like CreateNew if there is no usable file.
func OpenOrCreate(in *os.Root, name string, perm fs.FileMode) (*os.File, error) {
	f, err := Open(in, name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrForeign) {
		return CreateNew(in, name, perm)
	}
	return f, err
}

// OpenFolder opens the folder called name. The caller checks the rights of other users with [OthersRights].
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

// CheckFolder returns an error if info does not describe a folder of this user.
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

// checkFile returns an error if info does not describe a regular file of this user with a single name. A second name is
// refused, because somebody else may have made it by a hard link to another file of this user.
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

// StatFile returns the description of the file called name without opening it, or the error that Open would return.
func StatFile(in *os.Root, name string) (fs.FileInfo, error) {
	info, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	return info, checkFile(info)
}

// checkSame returns an error if before and now describe different files, because in between another file got the name.
func checkSame(before, now fs.FileInfo) error {
	if !os.SameFile(before, now) {
		return foreignError("it was replaced while it was opened")
	}
	return nil
}
