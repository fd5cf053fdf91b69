//go:build unix

package resume

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// lock is a file that is locked while its process lives.
type lock struct{ f *os.File }

// takeLock locks the file at path, which it makes. On file systems without locks it takes
// none: then nothing keeps two runs apart.
func takeLock(path string) (*lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o666)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
			defer f.Close()
			return nil, &busyError{owner(f)}
		}
		// Who had it until now may have removed the file, and another may have made a new one.
		if mine, err := f.Stat(); err == nil {
			if there, err := os.Lstat(path); err == nil && os.SameFile(mine, there) {
				if f.Truncate(0) == nil {
					fmt.Fprintf(f, "%d\n", os.Getpid()) // for the message of a second run only
				}
				return &lock{f}, nil
			}
		}
		f.Close()
	}
}

// owner says which process has the lock, if its file tells.
func owner(f *os.File) string {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	pid := strings.TrimSpace(string(b[:n]))
	if pid == "" || strings.Trim(pid, "0123456789") != "" {
		return ""
	}
	return " (process " + pid + ")"
}

func (l *lock) remove() { os.Remove(l.f.Name()) }

func (l *lock) release() error { return l.f.Close() }
