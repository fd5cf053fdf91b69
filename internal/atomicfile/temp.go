package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Remedy says what to do about a failed write.
func Remedy(err error) stream.Text {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return stream.PlainText("free some space or choose another place")
	case errors.Is(err, fs.ErrNotExist):
		return stream.PlainText("create the folder first")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return stream.PlainText("choose a folder you may write to")
	}
	return stream.PlainText("choose another place")
}

const (
	tempSuffix = ".ufs-tmp"
	// Most file systems allow 255 bytes a name; the rest is for the process and the suffix.
	maxTempStem = 200
)

// MakeTemp removes stale temporaries of path, then creates and locks a new one.
// A sweeping run may take a temporary between its creation and its lock; then
// another name is tried.
func MakeTemp(path string, create func(temp string) error, open func() (*os.File, error)) error {
	dir, name := filepath.Split(filepath.Clean(path))
	if dir == "" {
		dir = "."
	}
	if fi, err := os.Stat(dir); err != nil {
		return &stream.OutputError{Path: path, Err: err, Remedy: Remedy(err)}
	} else if !fi.IsDir() {
		return &stream.OutputError{Path: path, Err: fmt.Errorf("%s is not a folder", dir), Remedy: stream.PlainText("choose another place")}
	}
	stem := "." + name[:min(len(name), maxTempStem)] + "."
	sweepTemps(dir, stem)
	var err error
	for range 100 {
		temp := filepath.Join(dir, fmt.Sprintf("%s%d-%08x%s", stem, os.Getpid(), rand.Uint32(), tempSuffix))
		if err = create(temp); err != nil {
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return &stream.OutputError{Path: path, Err: err, Remedy: Remedy(err)}
		}
		var f *os.File
		if f, err = open(); err != nil {
			continue // swept away
		}
		if err = lockTemp(f); err == nil && isAt(f, temp) {
			return nil
		}
		f.Close()
		os.RemoveAll(temp)
		err = errors.Join(err, errors.New("its temporary file cannot be locked"))
	}
	return &stream.OutputError{Path: path, Err: err, Remedy: stream.PlainText("choose another place")}
}

// isAt reports whether the open file is still the one named path.
func isAt(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

// sweepTemps removes the temporaries in dir whose process has died. What cannot be
// removed stays: it is no reason to fail.
func sweepTemps(dir, stem string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		n := e.Name()
		if !strings.HasPrefix(n, stem) || !strings.HasSuffix(n, tempSuffix) || !isTempTag(n[len(stem):len(n)-len(tempSuffix)]) {
			continue
		}
		if e.Type().IsRegular() || e.IsDir() {
			removeStale(filepath.Join(dir, n), e.IsDir())
		}
	}
}

// isTempTag reports whether s is "PID-RANDOM", so that the temporaries of "a" are not
// taken for those of "a.b".
func isTempTag(s string) bool {
	var pid int
	var random uint32
	n, err := fmt.Sscanf(s, "%d-%08x", &pid, &random)
	return err == nil && n == 2 && s == fmt.Sprintf("%d-%08x", pid, random)
}
