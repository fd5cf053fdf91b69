//go:build unix

package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
)

// closeBeforeRename is false: the temporary file is renamed while it is locked, so that no other run takes it for the
// file of a killed run.
const closeBeforeRename = false

// lockTemp locks a temporary file or folder until it is closed or its process ends. On file systems without locks it
// does nothing. On these, no run can lock the files of killed runs in order to remove them, so they stay.
func lockTemp(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return err
	}
	return nil
}

// lockStale opens and locks the temporary file or folder called temp if the process that made it has died. busy reports
// whether this process is alive. On file systems without locks, f is nil and busy is false. For a temporary of another
// user, it returns an error.
func lockStale(in *os.Root, temp string, isDir bool) (f *os.File, busy bool, err error) {
	if isDir {
		var folder *os.Root
		if folder, err = ownfile.OpenFolder(in, temp); err == nil {
			f, err = folder.Open(".")
			folder.Close()
		}
	} else {
		f, err = ownfile.Open(in, temp, os.O_RDWR) // NFS gives exclusive locks only on files opened for writing
	}
	if err != nil {
		return nil, false, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, errors.Is(err, unix.EWOULDBLOCK), nil
	}
	return f, false, nil
}

func removeStale(in *os.Root, temp string, isDir bool) {
	if f, _, _ := lockStale(in, temp, isDir); f != nil {
		removeTemp(in, temp, isDir)
		f.Close()
	}
}

func syncDir(in *os.Root, name string) error {
	f, err := in.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	// Some network file systems refuse to sync a folder. The rename is then as durable as possible.
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}
