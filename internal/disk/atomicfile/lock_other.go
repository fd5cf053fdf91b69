//go:build !unix

package atomicfile

import (
	"os"
	"time"
)

// closeBeforeRename is true because Windows does not rename open files.
const closeBeforeRename = true

// staleAge is used instead of locks, which this package does not use on these systems: a temporary file that was not
// changed for a day is considered left by a killed run.
const staleAge = 24 * time.Hour

func lockTemp(*os.File) error { return nil }

func lockStale(*os.Root, string, bool) (f *os.File, busy bool, err error) { return nil, false, nil }

func removeStale(in *os.Root, temp string, isDir bool) {
	if fi, err := in.Lstat(temp); err == nil && time.Since(fi.ModTime()) > staleAge {
		removeTemp(in, temp, isDir)
	}
}

func syncDir(*os.Root, string) error { return nil }
