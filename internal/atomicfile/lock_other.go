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

// lockStale cannot tell whether the process of a temporary lives.
func lockStale(string, bool) (f *os.File, busy bool) { return nil, false }

func removeStale(path string, _ bool) {
	if fi, err := os.Stat(path); err == nil && time.Since(fi.ModTime()) > staleAge {
		os.RemoveAll(path)
	}
}

// syncDir does nothing: folders cannot be synced here.
func syncDir(string) error { return nil }
