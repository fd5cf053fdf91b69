//go:build !unix

package atomicfile

import (
	"os"
	"time"
)

// Windows does not rename open files.
const closeBeforeRename = true

// Without flock the weaker rule is age: a temporary untouched for a day is taken for stale.
const staleAge = 24 * time.Hour

func lockTemp(*os.File) error { return nil }

func lockStale(*os.Root, string, bool) (f *os.File, busy bool, err error) { return nil, false, nil }

func removeStale(in *os.Root, temp string, isDir bool) {
	if fi, err := in.Lstat(temp); err == nil && time.Since(fi.ModTime()) > staleAge {
		removeTemp(in, temp, isDir)
	}
}

// syncDir does nothing: folders cannot be synced here.
func syncDir(*os.Root, string) error { return nil }
