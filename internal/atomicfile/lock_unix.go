//go:build unix

package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
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

// lockStale opens and locks the temporary at path if its process has died; busy says that it
// lives. It gives neither on file systems without locks.
func lockStale(path string, isDir bool) (f *os.File, busy bool) {
	// NFS gives exclusive locks only to writers, and folders open read-only.
	flags := os.O_RDWR
	if isDir {
		flags = os.O_RDONLY
	}
	f, err := os.OpenFile(path, flags|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, errors.Is(err, unix.EWOULDBLOCK)
	}
	return f, false
}

// removeStale removes the temporary at path if its lock can be taken.
func removeStale(path string, isDir bool) {
	if f, _ := lockStale(path, isDir); f != nil {
		os.RemoveAll(path)
		f.Close()
	}
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
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
