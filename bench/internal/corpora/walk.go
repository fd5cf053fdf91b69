package corpora

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

type file struct {
	suite string // name of the folder
	name  string // path relative to the suite's folder, with slashes
	path  string
}

// suiteEndings lists endings of data files that are used only in the suites.
var suiteEndings = []string{".parq", ".arrow_file", ".stream"}

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
		known := endsWith(path, suiteEndings...) || chunkio.InputFormatByName(path) != nil
		if !known {
			var magics []string // the first bytes of formats
			for _, f := range chunkio.InputFormats() {
				if word := cmp.Or(f.Magic, f.Begins); word != "" {
					magics = append(magics, word)
				}
			}
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

// endsWith reports whether a path has one of the endings. It ignores upper and lower case, and a further ending for
// compression, such as .gz.
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
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, stream.Dataf(path, "cannot be read: %w", err)
	}
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(string(head[:n]), w) }), nil
}

func isParquet(path string) (bool, error) {
	if endsWith(path, ".parquet", ".parq") {
		return true, nil
	}
	return startsWithAny(path, "PAR1", "PARE")
}
