package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// RemedyFor returns advice for an error of writing a file.
func RemedyFor(err error) stream.Text {
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
	// maxTempStem is the largest length, in bytes, of the beginning of the final name that a temporary name contains.
	// Most file systems allow names of 255 bytes, and the process id and the suffix follow this part.
	maxTempStem = 200
)

// openParent opens the folder of path, and returns the name of the file in it. All later operations go through the open
// folder, so that a folder that somebody puts in its place is not written to.
func openParent(path string) (in *os.Root, name string, err error) {
	dir, name := filepath.Split(filepath.Clean(path))
	dir = cmp.Or(dir, ".")
	if fi, err := os.Stat(dir); err != nil {
		return nil, "", &stream.OutputError{Path: path, Err: err, Remedy: RemedyFor(err)}
	} else if !fi.IsDir() {
		return nil, "", &stream.OutputError{Path: path, Err: fmt.Errorf("%s is not a folder", dir), Remedy: stream.PlainText("choose another place")}
	}
	if in, err = os.OpenRoot(dir); err != nil {
		return nil, "", &stream.OutputError{Path: path, Err: err, Remedy: RemedyFor(err)}
	}
	return in, name, nil
}

func stemOfTempNames(name string) string { return "." + name[:min(len(name), maxTempStem)] + "." }

// makeTemp makes and locks a temporary file or folder, whose final name is passed as name. The function create makes
// and opens it. Errors name path. If another run removes the temporary before it is locked, makeTemp tries another
// name.
func makeTemp(in *os.Root, name, path string, create func(temp string) (*os.File, error)) (f *os.File, temp string, err error) {
	for range 100 {
		temp = fmt.Sprintf("%s%d-%08x%s", stemOfTempNames(name), os.Getpid(), rand.Uint32(), tempSuffix)
		if f, err = create(temp); err != nil {
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return nil, "", &stream.OutputError{Path: path, Err: err, Remedy: RemedyFor(err)}
		}
		if err = lockTemp(f); err == nil && isStillNamed(f, in, temp) {
			return f, temp, nil
		}
		f.Close() // another run has locked it, to remove or resume it
		err = errors.Join(err, errors.New("its temporary file cannot be locked"))
	}
	return nil, "", &stream.OutputError{Path: path, Err: err, Remedy: stream.PlainText("choose another place")}
}

func isStillNamed(f *os.File, in *os.Root, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := in.Lstat(name)
	return err == nil && os.SameFile(a, b)
}

// sweepTemps removes the temporary files and folders for the final name `name` whose process has died. It ignores
// temporaries of other users, and failures to remove.
func sweepTemps(in *os.Root, name string) {
	for temp, isDir := range listTempEntries(in, name) {
		removeStale(in, temp, isDir)
	}
}

func listTempEntries(in *os.Root, finalName string) iter.Seq2[string, bool] {
	return func(yield func(temp string, isDir bool) bool) {
		stem := stemOfTempNames(finalName)
		entries, _ := readDir(in, ".") // if the folder may not be listed, nothing is removed
		for _, e := range entries {
			n := e.Name()
			if !strings.HasPrefix(n, stem) || !strings.HasSuffix(n, tempSuffix) || !isTempTag(n[len(stem):len(n)-len(tempSuffix)]) {
				continue
			}
			if !yield(n, e.IsDir()) {
				return
			}
		}
	}
}

func readDir(in *os.Root, name string) ([]fs.DirEntry, error) {
	f, err := in.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// isTempFolder reports whether a folder with a temporary name really was made as a temporary folder. In such a folder
// other users have no rights, or it contains a list of finished files, if an older release made it.
func isTempFolder(folder *os.Root) bool {
	info, err := folder.Stat(".")
	if err == nil && ownfile.OthersRights(info) == 0 {
		return true
	}
	_, err = ownfile.StatFile(folder, finishedName)
	return err == nil
}

func removeTemp(in *os.Root, temp string, isDir bool) {
	if isDir {
		folder, err := ownfile.OpenFolder(in, temp)
		if err != nil {
			return
		}
		if isTempFolder(folder) {
			removeContents(folder)
		}
		folder.Close()
	}
	_ = in.Remove(temp) // if that fails, it stays
}

func removeContents(folder *os.Root) {
	entries, _ := readDir(folder, ".")
	for _, e := range entries {
		_ = folder.RemoveAll(e.Name()) // if that fails, it stays
	}
}

// isTempTag reports whether s has the form "PID-RANDOM". So temporary files for "a.b" are not mistaken for temporary
// files for "a".
func isTempTag(s string) bool {
	var pid int
	var random uint32
	n, err := fmt.Sscanf(s, "%d-%08x", &pid, &random)
	return err == nil && n == 2 && s == fmt.Sprintf("%d-%08x", pid, random)
}
