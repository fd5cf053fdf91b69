//go:build unix

package resume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
)

// lock is a file that this process has locked until it ends.
type lock struct{ f *os.File }

// takeLock makes and locks the lock file of a folder. On file systems without locks, two runs may use the same folder.
func takeLock(in *os.Root) (*lock, error) {
	for {
		f, err := openLock(in)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
			defer f.Close()
			return nil, &busyError{readLockHolder(f)}
		}
		// The previous holder may have removed the file, and another run made a new one.
		if mine, err := f.Stat(); err == nil {
			if current, err := in.Lstat(lockName); err == nil && os.SameFile(mine, current) {
				if f.Truncate(0) == nil {
					fmt.Fprintf(f, "%d\n", os.Getpid()) // only for the error message of another run
				}
				return &lock{f}, nil
			}
		}
		f.Close()
	}
}

func openLock(in *os.Root) (*os.File, error) {
	for {
		f, err := ownfile.Open(in, lockName, os.O_RDWR)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		if f, err = in.OpenFile(lockName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

func readLockHolder(f *os.File) string {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	pid := strings.TrimSpace(string(b[:n]))
	if pid == "" || strings.Trim(pid, "0123456789") != "" {
		return ""
	}
	return " (process " + pid + ")"
}

func (l *lock) remove(in *os.Root) { _ = in.Remove(lockName) }

func (l *lock) release() error { return l.f.Close() }
