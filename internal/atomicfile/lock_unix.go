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

// removeStale removes the temporary at path if its lock can be taken.
func removeStale(path string, dir bool) {
	// NFS gives exclusive locks only to writers, and folders open read-only.
	flags := os.O_RDWR
	if dir {
		flags = os.O_RDONLY
	}
	f, err := os.OpenFile(path, flags|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		os.RemoveAll(path)
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
