package listing

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formats"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
)

// DefaultSparse implements chunkio.DefaultSparse: it returns the default of Options.Sparse for inputs.
func DefaultSparse(ctx context.Context, inputs []string, stdin io.Reader, acceptsMaps bool) string {
	isSparse := func(f *formats.Format) bool { return f != nil && f.IsSparse() }
	switch {
	case slices.ContainsFunc(inputs, func(in string) bool { return isSparse(opening.FormatByName(in)) }):
		return svm.Entries
	case len(inputs) == 0:
		return ""
	}
	file := findFirstDataFile(ctx, inputs[0])
	f := detectFirstFormat(ctx, inputs[0], file, stdin)
	switch {
	case isSparse(f):
		return svm.Entries
	case acceptsMaps && file != "" && f != nil && f.Rows == intake.NDJSON:
		return findOnlyMap(ctx, file)
	}
	return ""
}

// detectFirstFormat returns the format of standard input or of the first local file of an input, or nil if it is
// unknown. file is the result of findFirstDataFile. Opening the input reports errors.
func detectFirstFormat(ctx context.Context, input, file string, stdin io.Reader) *formats.Format {
	if s, isKept := stdin.(*opening.Stdin); isKept && input == StdinName {
		return s.Format()
	}
	if list, ok := listName(input); ok {
		if info, err := os.Stat(list); err != nil || !info.Mode().IsRegular() { // a pipe can be read only once
			return nil
		}
		access := opening.NewAccess(settings.Options{Memory: maxListBytes})
		lines, err := readListLines(ctx, access, list)
		if err == nil {
			lines, err = resolveLines(ctx, access, list, lines[:1])
		}
		if err != nil {
			return nil
		}
		input, file = lines[0], findFirstDataFile(ctx, lines[0])
	}
	if file == "" {
		return opening.FormatByName(input) // in a store
	}
	return detectFileFormat(ctx, file)
}

func detectFileFormat(ctx context.Context, file string) *formats.Format {
	if f := opening.FormatByName(file); f != nil {
		return f
	}
	in, err := storage.OpenFile(ctx, file)
	if err != nil {
		return nil
	}
	defer in.Close()
	if f, _, guess, err := opening.DetectFormat(in); err == nil && !guess {
		return f
	}
	return nil
}

// maxListBytes limits the memory for a list whose first file shows the format.
const maxListBytes = 64 << 20

func findOnlyMap(ctx context.Context, file string) string {
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

func findFirstDataFile(ctx context.Context, input string) (first string) {
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
	looks := 0
	_ = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error { // opening reports the error
		switch {
		case err != nil:
			return err
		case file != root && IsHiddenName(entry.Name()) && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir() || IsHiddenName(entry.Name()) || opening.NamesFeatures(file):
			return nil
		case !IsDataFile(file) && (!isNotOwnResult(file) || looks == maxLooks):
			return nil
		case !IsDataFile(file):
			if looks++; detectFileFormat(ctx, file) == nil {
				return nil
			}
		}
		first = file
		return fs.SkipAll
	})
	return first
}
