//go:build unix

package testtool

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile waits until no other process holds the lock. Closing the file releases it.
func lockFile(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR { //nolint:errorlint // of a system call
			return err
		}
	}
}
