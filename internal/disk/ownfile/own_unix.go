//go:build unix

package ownfile

import (
	"io/fs"
	"os"
	"syscall"
)

// doNotWait keeps open(2) from waiting for the other end of a pipe.
const doNotWait = syscall.O_NONBLOCK

// IsOurs reports whether a file or folder belongs to the user of the process.
func IsOurs(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

func hasOtherNames(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}

// OthersRights returns the bits of the mode that give rights to other users.
func OthersRights(info fs.FileInfo) fs.FileMode { return info.Mode() & 0o077 }

// CopyMode gives f the mode and the group of the file that it replaces. If this user may not set that group, the group
// of f gets no rights that other users do not have.
func CopyMode(f *os.File, replaced fs.FileInfo) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	mode := replaced.Mode().Perm()
	if replaced.IsDir() {
		mode = replaced.Mode() &^ fs.ModeType
	}
	replacedStat, currentStat := replaced.Sys().(*syscall.Stat_t), now.Sys().(*syscall.Stat_t)
	if replacedStat.Gid != currentStat.Gid && f.Chown(-1, int(replacedStat.Gid)) != nil {
		mode &= mode<<3 | ^fs.FileMode(0o070)
	}
	if replacedStat.Gid == currentStat.Gid && mode == now.Mode()&^fs.ModeType {
		return nil // file systems without modes refuse to set one
	}
	return f.Chmod(mode)
}
