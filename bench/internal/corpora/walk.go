package corpora

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// file is one file of a suite.
type file struct {
	suite string // the folder's own name
	name  string // below the suite, with slashes
	path  string
}

// endings are those of files of rows in ufs-stream or the suites.
var endings = []string{
	".parquet", ".parq", ".arrow", ".arrow_file", ".arrows", ".stream", ".feather", ".ipc", ".avro", ".npy",
	".csv", ".tsv", ".jsonl", ".ndjson", ".svm", ".libsvm",
}

// magics are the first bytes that identify formats, for files of any name.
var magics = []string{"PAR1", "PARE", "ARROW1", "\xff\xff\xff\xff", "\x93NUMPY", "Obj\x01"}

// listFiles lists the files of a folder, by name, that ufs-stream can be asked to read: by their endings, or by
// their first bytes.
func listFiles(folder string) ([]file, error) {
	root, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	var files []file
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return stream.Dataf(path, "cannot be listed: %w", err)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		known := endsWith(path, endings...)
		if !known {
			if known, err = startsWithAny(path, magics...); err != nil {
				return err
			}
		}
		if name, err := filepath.Rel(root, path); known && err == nil {
			files = append(files, file{suite: filepath.Base(root), name: filepath.ToSlash(name), path: path})
		}
		return nil
	})
	return files, err
}

// endsWith ignores case, and the ending of a compression.
func endsWith(path string, endings ...string) bool {
	lower := strings.ToLower(path)
	for _, compressed := range []string{".gz", ".zst", ".bz2"} {
		lower = strings.TrimSuffix(lower, compressed)
	}
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(lower, e) })
}

func startsWithAny(path string, words ...string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, stream.Dataf(path, "cannot be opened: %w", err)
	}
	defer f.Close()
	head := make([]byte, 8)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, stream.Dataf(path, "cannot be read: %w", err)
	}
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(string(head[:n]), w) }), nil
}

// isParquet reports whether DuckDB can be asked to read a file.
func isParquet(path string) (bool, error) {
	if endsWith(path, ".parquet", ".parq") {
		return true, nil
	}
	return startsWithAny(path, "PAR1", "PARE")
}
