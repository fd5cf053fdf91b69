package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
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

// tempStem is what the names of the temporaries of path in dir begin with.
func tempStem(path string) (dir, stem string) {
	dir, name := filepath.Split(filepath.Clean(path))
	if dir == "" {
		dir = "."
	}
	return dir, "." + name[:min(len(name), maxTempStem)] + "."
}

// makeTemp creates and locks a temporary of path. A sweeping run may take it between its
// creation and its lock; then another name is tried.
func makeTemp(path string, create func(temp string) error, open func() (*os.File, error)) error {
	dir, stem := tempStem(path)
	if fi, err := os.Stat(dir); err != nil {
		return &stream.OutputError{Path: path, Err: err, Remedy: Remedy(err)}
	} else if !fi.IsDir() {
		return &stream.OutputError{Path: path, Err: fmt.Errorf("%s is not a folder", dir), Remedy: stream.PlainText("choose another place")}
	}
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
		f.Close() // another run has it: it is for that to remove, or to go on with
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

// sweepTemps removes the temporaries of path whose process has died. What cannot be
// removed stays: it is no reason to fail.
func sweepTemps(path string) {
	for temp, isDir := range temps(path) {
		removeStale(temp, isDir)
	}
}

// temps are the temporaries of path, files and folders.
func temps(path string) iter.Seq2[string, bool] {
	return func(yield func(temp string, isDir bool) bool) {
		dir, stem := tempStem(path)
		entries, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			n := e.Name()
			if !strings.HasPrefix(n, stem) || !strings.HasSuffix(n, tempSuffix) || !isTempTag(n[len(stem):len(n)-len(tempSuffix)]) {
				continue
			}
			if (e.Type().IsRegular() || e.IsDir()) && !yield(filepath.Join(dir, n), e.IsDir()) {
				return
			}
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
