package listing

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
)

// DefaultSparse implements chunkio.DefaultSparse.
func DefaultSparse(inputs []string) string {
	if slices.ContainsFunc(inputs, opening.IsLibsvm) {
		return svm.Entries
	}
	return ""
}

// SniffSparse implements chunkio.SniffSparse.
func SniffSparse(ctx context.Context, inputs []string) string {
	if len(inputs) == 0 {
		return ""
	}
	file := findFirstDataFile(inputs[0])
	if file == "" || opening.FormatByName(file) != intake.NDJSON {
		return ""
	}
	in, err := storage.OpenFile(ctx, file)
	if err != nil {
		return "" // opening it again reports the error
	}
	defer in.Close()
	head, err := storage.ReadHead(in)
	if err != nil {
		return ""
	}
	return intake.OnlyMap(intake.Input{Name: in.Name(), Format: intake.NDJSON, Open: func() (io.ReadCloser, error) {
		return opening.NewDecompressor(in.Name(), opening.NewSequentialReader(in), intake.SniffPacking([]byte(head)))
	}})
}

func findFirstDataFile(input string) (first string) {
	root, err := place.LocalPath(input)
	if err != nil || store.IsURL(input) || input == StdinName {
		return ""
	}
	info, err := os.Stat(root)
	switch {
	case err != nil:
		return ""
	case info.Mode().IsRegular():
		return root
	case !info.IsDir():
		return ""
	}
	_ = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error { // opening reports the error
		switch {
		case err != nil:
			return err
		case file != root && IsHiddenName(entry.Name()) && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir() || IsHiddenName(entry.Name()) || !IsDataFile(file):
			return nil
		}
		first = file
		return fs.SkipAll
	})
	return first
}
