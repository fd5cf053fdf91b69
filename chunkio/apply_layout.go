package chunkio

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// outputLayout says which output file each input file becomes.
type outputLayout struct {
	single bool              // all inputs become the one output file
	place  map[string]string // else: input path → path below the output folder
}

// bytes estimates what the layout holds, and the places once more.
func (l outputLayout) bytes() (n int64) {
	const entries = 140 // of two maps that are filled by half
	for path, rel := range l.place {
		n += entries + int64(len(path)+len(rel))
	}
	return n
}

// arrange chooses the layout of Apply's output from its arguments and the files that
// they expand to.
func (a *access) arrange(ctx context.Context, inputs []string, list *fileList, out string, form Form) (outputLayout, error) {
	paths := list.paths()
	if err := atomicfile.NotInput(out, paths...); err != nil {
		return outputLayout{}, err
	}
	roots, err := a.directories(ctx, inputs, paths)
	if err != nil {
		return outputLayout{}, err
	}
	if len(roots) == 0 && (len(paths) == 1 || namesForm(out)) {
		return outputLayout{single: true}, list.notTaken(out, nil)
	}
	if err := folderToBe(out, len(roots) > 0, form); err != nil {
		return outputLayout{}, err
	}
	l := outputLayout{place: make(map[string]string, len(paths))}
	taken := make(map[string]string, len(paths))
	trees := make([]string, len(paths)) // where the files lie, whatever keeps them
	for i, p := range paths {
		if trees[i], err = treePath(p); err != nil {
			return outputLayout{}, err
		}
	}
	common := commonFolder(trees)
	for i, p := range paths {
		base := common
		if len(roots) > 0 {
			base = filepath.Dir(trees[i])
			for _, root := range roots {
				if strings.HasPrefix(trees[i], withSeparator(root)) {
					base = root
				}
			}
		}
		rel, err := filepath.Rel(base, trees[i])
		if err != nil {
			return outputLayout{}, stream.Dataf(place.Name(p), "cannot place it below %s: %w", place.Name(out), err)
		}
		if ext := filepath.Ext(rel); !strings.EqualFold(ext, form.ending()) {
			rel = strings.TrimSuffix(rel, ext)
			if inner := filepath.Ext(rel); slices.Contains(intake.Packings, ext) && intake.Named(inner) != intake.None { // as in part.csv.gz
				rel = strings.TrimSuffix(rel, inner)
			}
			rel += form.ending()
		}
		if other, ok := taken[rel]; ok {
			return outputLayout{}, stream.Usagef("%s and %s would both become %s; apply them one by one, or to one file ({o} FILE%s)",
				place.Name(other), place.Name(p), place.Name(place.Below(out, rel)), form.ending())
		}
		taken[rel], l.place[p] = p, rel
	}
	return l, list.notTaken(out, l.place)
}

// folderToBe refuses what stands at the place of an output folder and is none: a file, a device, a pipe.
func folderToBe(out string, ofFolder bool, form Form) error {
	local, err := place.Local(out)
	if err != nil || place.IsURL(out) {
		return err
	}
	info, err := os.Stat(local)
	there := err == nil && !info.IsDir()
	switch {
	case there && ofFolder:
		return stream.Usagef("{o} %s: the output of a folder is a folder, and this is none; name a new folder", out)
	case there:
		return stream.Usagef("{o} %s: the output of several files is a folder, and this is none; name a new folder, or one file for all rows by its ending, as OUT%s", out, form.ending())
	}
	return nil
}

// treePath is p as a path in one tree of all files: that of an object begins with its
// store and bucket. The key of an object is no path: one that leads out of its folder
// must not do so below the output.
func treePath(p string) (string, error) {
	if !place.IsURL(p) {
		return p, nil
	}
	l, err := store.Parse(p)
	if err != nil {
		return "", err
	}
	if parts := strings.Split(l.Key, "/"); slices.Contains(parts, "..") || slices.Contains(parts, ".") {
		return "", stream.Dataf(l.Name(), "its key has a part . or .., which is no place below a folder; apply it by itself")
	}
	return filepath.Join(l.Scheme, l.Bucket, filepath.FromSlash(l.Key)), nil
}

// directories lists the inputs that are directories, also those in lists, as tree paths. A
// URL is one that stands for objects below it: it is neither the name of one nor a glob.
func (a *access) directories(ctx context.Context, inputs, paths []string) ([]string, error) {
	var roots []string
	for _, arg := range inputs {
		places, err := a.places(ctx, arg)
		if err != nil {
			return nil, err
		}
		for _, p := range places {
			root, err := directory(p, paths)
			if err != nil {
				return nil, err
			}
			if root != "" {
				roots = append(roots, root)
			}
		}
	}
	return roots, nil
}

// directory is arg as a tree path if it is a directory, else empty.
func directory(arg string, paths []string) (string, error) {
	arg = strings.TrimPrefix(arg, deltaScheme)
	if !place.IsURL(arg) {
		local, err := place.Local(arg)
		if err != nil {
			return "", err
		}
		if info, err := os.Stat(local); err == nil && info.IsDir() {
			return filepath.Clean(local), nil
		}
		return "", nil
	}
	l, err := store.Parse(arg)
	if err != nil {
		return "", err
	}
	named := slices.Contains(paths, l.String())
	if _, glob := l.Glob(); named || glob {
		return "", nil
	}
	return treePath(arg)
}

// commonFolder is the innermost folder that all paths are below.
func commonFolder(paths []string) string {
	folder := filepath.Dir(paths[0])
	for _, p := range paths[1:] {
		for folder != "." && folder != filepath.Dir(folder) && !strings.HasPrefix(p, withSeparator(folder)) {
			folder = filepath.Dir(folder)
		}
	}
	return folder
}

func withSeparator(folder string) string {
	switch {
	case folder == ".":
		return ""
	case strings.HasSuffix(folder, string(filepath.Separator)):
		return folder
	}
	return folder + string(filepath.Separator)
}
