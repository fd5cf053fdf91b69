//go:build unix

package localfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// openOtherEnd opens the other end of a pipe for a moment, without waiting.
func openOtherEnd(path string, mode int) {
	other := unix.O_WRONLY
	if mode == os.O_WRONLY {
		other = unix.O_RDONLY
	}
	if fd, err := unix.Open(path, other|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
		unix.Close(fd)
	}
}
