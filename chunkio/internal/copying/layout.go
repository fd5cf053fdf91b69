package copying

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// outputLayout maps each input file to its output file.
type outputLayout struct {
	single bool              // all inputs become the one output file
	place  map[string]string // for several output files: input path → path below the output folder, with slashes
}

// memoryBytes estimates the memory of the layout and of a second copy of its paths.
func (l outputLayout) memoryBytes() (n int64) {
	const entries = 140 // bytes for each entry in two half-filled maps
	for path, rel := range l.place {
		n += entries + int64(len(path)+len(rel))
	}
	return n
}

// chooseLayout chooses the layout of Apply's output from its arguments and the files that they expand to. It refuses an
// output that would replace an input, even under another name.
func chooseLayout(ctx context.Context, a *opening.Access, inputs []string, list *listing.List, out string, form Form) (outputLayout, error) {
	sources := list.SourcePaths()
	paths := sources[:list.Count]
	if err := atomicfile.CheckNotInput(ctx, out, sources...); err != nil {
		return outputLayout{}, err
	}
	if list.IsStdin() {
		if err := opening.RefuseStdinFile(out, a.Options.Stdin); err != nil {
			return outputLayout{}, err
		}
	}
	roots, err := findInputFolders(ctx, a, inputs, paths)
	if err != nil {
		return outputLayout{}, err
	}
	if _, named := formOfName(out); named && !isFolderOutput(out) || len(roots) == 0 && len(paths) == 1 {
		return outputLayout{single: true}, list.CheckOutput(out, nil)
	}
	if err := refuseFileAsFolder(out, len(roots) > 0, form); err != nil {
		return outputLayout{}, err
	}
	l, err := chooseFolderLayout(out, roots, paths, form)
	if err != nil {
		return outputLayout{}, err
	}
	if err := atomicfile.CheckNoneIsInput(ctx, out, maps.Values(l.place), sources); err != nil {
		return outputLayout{}, err
	}
	return l, list.CheckOutput(out, l.place)
}

// chooseFolderLayout chooses a path below the folder out for each of the files at paths. A file below one of the roots
// keeps its path below that root. If there are roots, a file that is not below any root keeps only its name. Without
// roots, all files keep their paths below their innermost common folder.
func chooseFolderLayout(out string, roots, paths []string, form Form) (outputLayout, error) {
	l := outputLayout{place: make(map[string]string, len(paths))}
	common, err := commonFolders(paths)
	if err != nil {
		return outputLayout{}, err
	}
	sourceOf := make(map[string]string, len(paths))
	for _, p := range paths {
		tree, err := treePath(p)
		if err != nil {
			return outputLayout{}, err
		}
		base := common[isLocalTreePath(tree)]
		if len(roots) > 0 {
			base = innermostRootAbove(roots, tree)
		}
		rel, _ := cutFolder(base, tree)
		rel = withFormEnding(rel, form)
		if err := place.CheckName(rel); err != nil {
			return outputLayout{}, stream.Dataf(place.DisplayName(p), "%w, so that it has no place below %s; apply it by itself, to one file ({o} FILE%s)", err, place.DisplayName(out), form.fileEnding())
		}
		if other, ok := sourceOf[rel]; ok {
			return outputLayout{}, stream.Usagef("%s and %s would both become %s; apply them one by one, or to one file ({o} FILE%s)",
				place.DisplayName(other), place.DisplayName(p), place.DisplayName(place.JoinBelow(out, rel)), form.fileEnding())
		}
		sourceOf[rel], l.place[p] = p, rel
	}
	return l, nil
}

func withFormEnding(relativePath string, form Form) string {
	if strings.EqualFold(path.Ext(relativePath), form.fileEnding()) {
		return relativePath
	}
	packed := slices.Contains(append([]string{".gzip", ".snappy", ".zstd", ".lz4"}, intake.Packings...), path.Ext(relativePath))
	relativePath = listing.TrimEnding(relativePath)
	if inner := listing.NameEnding(relativePath); packed && (listing.IsDataFile(relativePath) || inner == ".txt" || inner == ".json") { // a name such as part.csv.gz
		relativePath = listing.TrimEnding(relativePath)
	}
	return relativePath + form.fileEnding()
}

// isFolderOutput reports whether out is an existing local folder or ends with a slash. A slash at the end means a
// folder, even if the name has the ending of a file.
func isFolderOutput(out string) bool {
	if strings.HasSuffix(out, "/") || strings.HasSuffix(out, string(os.PathSeparator)) {
		return true
	}
	local, err := place.LocalPath(out)
	if err != nil || place.IsURL(out) {
		return false
	}
	info, err := os.Stat(local)
	return err == nil && info.IsDir()
}

func refuseFileAsFolder(out string, isFolder bool, form Form) error {
	local, err := place.LocalPath(out)
	if err != nil || place.IsURL(out) {
		return err
	}
	info, err := os.Stat(local)
	isFile := err == nil && !info.IsDir()
	switch {
	case isFile && isFolder:
		return stream.Usagef("{o} %s: the output of a folder is a folder, and this is none; name a new folder", out)
	case isFile:
		return stream.Usagef("{o} %s: the output of several files is a folder, and this is none; name a new folder, or one file for all rows by its ending, as OUT%s", out, form.fileEnding())
	}
	return nil
}

// treePath returns the path of a file or folder in a common tree of all files, with slashes and without . and ..
// elements. A local path begins at the root, independent of the working directory; the volume, if there is one, is a
// folder. An object's path begins with its store and bucket. A key with the part . or .. is refused, because it must
// not lead out of the output folder.
func treePath(p string) (string, error) {
	if !place.IsURL(p) {
		local, err := place.AbsolutePath(p)
		if err != nil {
			return "", err
		}
		volume := filepath.VolumeName(local)
		return path.Join("/", strings.ReplaceAll(filepath.ToSlash(volume), ":", ""), filepath.ToSlash(local[len(volume):])), nil
	}
	l, err := store.Parse(p)
	if err != nil {
		return "", err
	}
	if parts := strings.Split(l.Key, "/"); slices.Contains(parts, "..") || slices.Contains(parts, ".") {
		return "", stream.Dataf(l.PublicName(), "its key has a part . or .., which is no place below a folder; apply it by itself")
	}
	return path.Join(l.Scheme, l.Bucket, l.Key), nil
}

func isLocalTreePath(tree string) bool { return strings.HasPrefix(tree, "/") }

// findInputFolders returns the tree paths of the inputs that are directories, including inputs named in lists. A URL is
// a directory if objects are below it, no object has exactly this name, and it is not a glob.
func findInputFolders(ctx context.Context, a *opening.Access, inputs, paths []string) ([]string, error) {
	var roots []string
	for _, arg := range inputs {
		places, err := listing.ExpandListArgument(ctx, a, arg)
		if err != nil {
			return nil, err
		}
		for _, p := range places {
			root, err := treePathIfInputFolder(p, paths)
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

func treePathIfInputFolder(input string, paths []string) (string, error) {
	input = strings.TrimPrefix(input, listing.DeltaScheme)
	if !place.IsURL(input) {
		local, err := place.LocalPath(input)
		if err != nil {
			return "", err
		}
		if info, err := os.Stat(local); err == nil && info.IsDir() {
			return treePath(local)
		}
		return "", nil
	}
	l, err := store.Parse(input)
	if err != nil {
		return "", err
	}
	named := slices.Contains(paths, l.String())
	if _, glob := l.GlobPrefix(); named || glob {
		return "", nil
	}
	return treePath(input)
}

// commonFolders returns the innermost folder that contains all local files, under the key true, and the innermost
// folder that contains all objects, under the key false. If the inputs have both, the paths of objects keep the names
// of their stores, and local files in the working directory keep their paths below it.
func commonFolders(paths []string) (map[bool]string, error) {
	common := make(map[bool]string, 2)
	for _, p := range paths {
		tree, err := treePath(p)
		if err != nil {
			return nil, err
		}
		folder, ok := common[isLocalTreePath(tree)]
		if !ok {
			folder = path.Dir(tree)
		}
		common[isLocalTreePath(tree)] = commonParentFolder(folder, tree)
	}
	if len(common) == 2 {
		here, err := treePath(".")
		if err != nil {
			return nil, err
		}
		common[true], common[false] = commonParentFolder(here, common[true]+"/"), "."
	}
	return common, nil
}

func commonParentFolder(folder, treePathBelow string) string {
	for {
		if _, below := cutFolder(folder, treePathBelow); below {
			return folder
		}
		folder = path.Dir(folder)
	}
}

func innermostRootAbove(roots []string, treePathBelow string) string {
	base := ""
	for _, root := range roots {
		if _, below := cutFolder(root, treePathBelow); below && len(root) > len(base) {
			base = root
		}
	}
	if base == "" {
		return path.Dir(treePathBelow)
	}
	return base
}

// cutFolder returns the part of the tree path tree below the folder, and whether it is below; objects are below ".".
func cutFolder(folder, tree string) (rel string, below bool) {
	switch folder {
	case ".":
		return tree, !isLocalTreePath(tree)
	case "/":
		return strings.CutPrefix(tree, "/")
	}
	return strings.CutPrefix(tree, folder+"/")
}
