package scratch

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocateFile reserves total bytes on the disk for f at once, so that a full disk is reported before the work begins.
func allocateFile(f *os.File, total int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, total)
	for errors.Is(err, unix.EINTR) { // interrupted by a signal, which may come from the Go runtime itself
		err = unix.Fallocate(int(f.Fd()), 0, 0, total)
	}
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return f.Truncate(total)
	}
	return err
}

// freeSpace returns the bytes that are free in dir, and false if they are unknown.
func freeSpace(dir string) (int64, bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * s.Frsize, true
}
