//go:build unix

package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ufs-stream/ufs-stream/internal/ownfile"
)

// The temporary is renamed while still locked, so that no other run can take it for stale.
const closeBeforeRename = false

// lockTemp locks a temporary (file or folder) until it is closed or its process ends.
// On file systems without locks it is left unlocked; then no run can take the lock and
// remove it either, so stale temporaries stay there.
func lockTemp(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return err
	}
	return nil
}

// lockStale opens and locks the temporary of that name if its process has died; busy reports that it lives. On
// file systems without locks it returns neither; nor for temporaries of other users, with an error.
func lockStale(in *os.Root, temp string, isDir bool) (f *os.File, busy bool, err error) {
	if isDir {
		var folder *os.Root
		if folder, err = ownfile.OpenFolder(in, temp); err == nil {
			f, err = folder.Open(".")
			folder.Close()
		}
	} else {
		f, err = ownfile.Open(in, temp, os.O_RDWR) // NFS gives exclusive locks only to writers, and folders open read-only
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
	// Some network file systems refuse to sync a folder; the rename is then as durable as it gets.
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}
