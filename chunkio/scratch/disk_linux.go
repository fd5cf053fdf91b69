package scratch

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocateFile reserves the space at once, so that a full disk is reported before the work begins.
func allocateFile(f *os.File, total int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, total)
	for errors.Is(err, unix.EINTR) { // a signal, which the runtime sends to itself too
		err = unix.Fallocate(int(f.Fd()), 0, 0, total)
	}
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return f.Truncate(total)
	}
	return err
}

// freeSpace returns the bytes that are free in dir.
func freeSpace(dir string) (int64, bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * s.Frsize, true
}
