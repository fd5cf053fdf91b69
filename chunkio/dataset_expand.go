package chunkio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufs-stream/ufs-stream/stream"
)

// stdinName is the input that stands for an Arrow IPC stream on standard input.
const stdinName = "-"

// dataEndings are the files that a directory contributes. Only the choice goes by
// the ending; what a file is, its first bytes say.
var dataEndings = []string{".parquet", ".arrow", ".feather", ".ipc"}

var urlScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// expand turns arguments into the files to read, in byte order of their paths as
// given (or as joined to a directory given). An argument is a file, a glob with
// *, ?, [..], {..} and **, a directory, or @list with one of these a line, taken
// relative to the working directory. Standard input comes back as its own name
// and must be alone.
func expand(args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, stream.Usagef("no input: name files, globs, directories, @list.txt or - for a stream on standard input")
	}
	var paths []string
	for _, arg := range args {
		if arg == stdinName {
			if len(args) > 1 {
				return nil, stream.Usagef("- (standard input) cannot be combined with other inputs")
			}
			return args, nil
		}
		found, err := expandArgument(arg)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	return paths, refuseTwice(paths)
}

func expandArgument(arg string) ([]string, error) {
	list, ok := strings.CutPrefix(arg, "@")
	if !ok {
		return expandPath(arg)
	}
	lines, err := readList(list)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, line := range lines {
		found, err := expandPath(line)
		if err != nil {
			return nil, fmt.Errorf("in list %s: %w", list, err)
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// readList returns the lines of an input list without blank lines and # comments.
func readList(path string) ([]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, stream.Dataf(path, "cannot read the input list: %w", withoutPath(err))
	}
	var lines []string
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil, stream.Dataf(path, "the input list names no file")
	}
	return lines, nil
}

// expandPath resolves one file, directory or glob. What exists under exactly this
// name wins over reading the name as a glob.
func expandPath(arg string) ([]string, error) {
	if urlScheme.MatchString(arg) {
		return nil, stream.Usagef("%s: object stores are not supported yet; copy or mount the files and name them by path", arg)
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return walk(arg)
	case err == nil && !info.Mode().IsRegular():
		return nil, stream.Dataf(arg, "not a regular file; give a stream on standard input with -")
	case err == nil:
		return []string{arg}, nil
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(arg, "*?[{"):
		return glob(arg)
	}
	return nil, stream.Dataf(arg, "cannot read the input: %w", withoutPath(err))
}

// glob returns the files that match, or, where only directories match, the data
// files in them: what a shell's own expansion of the pattern would lead to.
func glob(pattern string) ([]string, error) {
	if !doublestar.ValidatePathPattern(pattern) {
		return nil, stream.Usagef("%s: malformed glob", pattern)
	}
	matches, err := doublestar.FilepathGlob(pattern, doublestar.WithNoHidden())
	if err != nil {
		return nil, stream.Dataf(pattern, "%w", err)
	}
	explicit := skipName(filepath.Base(pattern))
	var files, folders []string
	for _, m := range matches {
		info, err := os.Stat(m)
		switch {
		case err != nil:
			return nil, stream.Dataf(m, "cannot read the input: %w", withoutPath(err))
		case info.IsDir():
			folders = append(folders, m)
		case explicit || !skipName(filepath.Base(m)):
			files = append(files, m)
		}
	}
	if len(files) > 0 {
		return files, nil
	}
	for _, folder := range folders {
		found, err := walk(folder)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, stream.Dataf(pattern, "no file matches")
	}
	return files, nil
}

// walk returns the data files below a directory. Names that begin with _ or . are
// left out: writers keep their markers and unfinished files under such names.
func walk(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return stream.Dataf(path, "cannot read the directory: %w", withoutPath(err))
		case path == root:
			return nil
		case skipName(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir() || !slices.Contains(dataEndings, strings.ToLower(filepath.Ext(path))):
			return nil
		}
		files = append(files, path)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, stream.Dataf(root, "no data files in this directory (%s)", strings.Join(dataEndings, ", "))
	}
	return files, nil
}

func skipName(base string) bool { return strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") }

// refuseTwice reports a file that is named twice, also by way of links: its rows
// would count twice.
func refuseTwice(paths []string) error {
	seen := make(map[string]string, len(paths))
	for _, path := range paths {
		target, err := filepath.EvalSymlinks(path)
		if err == nil {
			target, err = filepath.Abs(target)
		}
		if err != nil {
			return stream.Dataf(path, "cannot read the input: %w", withoutPath(err))
		}
		if first, ok := seen[target]; ok {
			if first == path {
				return stream.Dataf(path, "this file is named twice among the inputs")
			}
			return stream.Dataf(path, "this is the same file as %s", first)
		}
		seen[target] = path
	}
	return nil
}
