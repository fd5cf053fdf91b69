package place

import (
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/app/shell"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Scope contains the places that an external file (a list, a plan, the log of a table) may name. These are, first, the
// external file's own places, which are opened with the same parameters and credentials as this file, and second, the
// places that the user allows. The parameters of a store (endpoint, profile, account, …) decide who receives the
// credentials of the user, so an external file never chooses them.
type Scope struct {
	file          string   // display name of the external file
	folders       []string // local folders in the scope, as clean absolute paths
	roots         []store.Location
	recordedRoots []store.Location // roots whose parameters the user has to repeat: see AddRecorded
}

// OwnPlaces returns the places that an external file may name in any case, for NewScope. For a local file these are its
// folder and the working directory, for a URL the URL itself, which represents its whole bucket or host.
func OwnPlaces(file string) []string {
	if IsURL(file) {
		return []string{file}
	}
	if local, err := LocalPath(file); err == nil {
		file = local
	}
	return []string{filepath.Dir(file), "."}
}

// TopFolder returns the folder that is directly below the root and contains the given local folder.
func TopFolder(folder string) string {
	full, err := filepath.Abs(folder)
	if err != nil {
		return folder
	}
	for dir := filepath.Dir(full); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		full = dir
	}
	return full
}

// NewScope returns the scope of an external file. own lists the file's own places: a folder means everything below it,
// and a URL its whole bucket or host. allowed lists prefixes from the user: local folders or files, or URLs with the
// parameters to use. A glob allows its fixed beginning, and a delta:// URL the folder of the table. So any input of a
// command can also be in allowed. A prefix that is not a place is a *stream.UsageError.
func NewScope(file string, own, allowed []string) (*Scope, error) {
	s := &Scope{file: file}
	for _, arg := range own {
		if err := s.addPrefix(arg, true); err != nil {
			return nil, err
		}
	}
	for _, arg := range allowed {
		if err := s.addPrefix(strings.TrimPrefix(arg, "delta://"), false); err != nil {
			return nil, stream.Errorf("{allow} %s: %w", DisplayName(arg), err)
		}
	}
	return s, nil
}

// addPrefix adds the prefix arg to the scope. If the parameter whole is set and arg is a URL, it adds the entire bucket
// or host.
func (s *Scope) addPrefix(arg string, whole bool) error {
	if !IsURL(arg) {
		if scheme, _, ok := strings.Cut(arg, "://"); arg == "" || ok && scheme != "file" {
			return stream.Usagef("want a folder or file, or a URL that begins with s3://, gs://, azblob:// or https://")
		}
		folder, err := AbsolutePath(arg)
		if _, missing := os.Lstat(folder); missing != nil && !whole {
			if globStart := strings.IndexAny(folder, "*?[{"); globStart >= 0 {
				folder = filepath.Dir(folder[:globStart] + "x")
			}
		}
		s.folders = append(s.folders, folder)
		return err
	}
	root, err := store.Parse(arg)
	if prefix, isGlob := root.GlobPrefix(); whole {
		root = root.WithKey("")
	} else if isGlob && !root.IsWeb() {
		root = root.WithKey(prefix)
	}
	s.roots = append(s.roots, root)
	return err
}

// Resolve returns the path or URL for opening the file, folder or glob called name. If name is outside the scope, the
// error is a *stream.DataError with the option that allows the name.
func (s *Scope) Resolve(name string) (string, error) {
	if !IsURL(name) {
		return s.resolveLocal(name)
	}
	named, err := store.Parse(name)
	if err != nil {
		return "", stream.Dataf(s.file, "it names %s: %v", DisplayName(name), err)
	}
	for _, root := range s.roots {
		if opened, ok := root.OpenBelow(named); ok {
			return opened.String(), nil
		}
	}
	return "", s.errOutside(named)
}

func (s *Scope) errOutside(named store.Location) error {
	for _, root := range s.recordedRoots {
		if _, ok := root.OpenBelow(named); ok {
			e := stream.Dataf(s.file, "its maker read %s with %s, and only arguments, the environment and configuration choose that", named.WithoutParameters().PublicName(), strings.Join(root.ParameterNames(), ", "))
			e.Remedy = stream.Textf("if you trust it, and know who that is, add {allow} %s", shell.Quote(root.PublicName()))
			return e
		}
	}
	e := stream.Dataf(s.file, "it names %s, which is not in its own place", named.PublicName())
	if parameters := named.ParameterNames(); len(parameters) > 0 {
		e = stream.Dataf(s.file, "it names %s with %s, and only arguments, the environment and configuration choose that", named.WithoutParameters().PublicName(), strings.Join(parameters, ", "))
	}
	e.Remedy = stream.Textf("if you trust it, and know who that is, add {allow} %s", shell.Quote(named.WithKey("").PublicName()))
	return e
}

func (s *Scope) resolveLocal(name string) (string, error) {
	full, err := AbsolutePath(name)
	if err != nil {
		return "", stream.Dataf(s.file, "it names %s: %v", name, err)
	}
	if local, err := LocalPath(name); err == nil && slices.Contains(strings.Split(filepath.ToSlash(local), "/"), "..") {
		name = full // because .. after a link means the parent of the link's target
	}
	for _, folder := range s.folders {
		if isBelow(folder, full) {
			return name, nil
		}
	}
	for _, folder := range s.folders { // name may lead into a folder through links
		if filepath.VolumeName(folder) != filepath.VolumeName(full) {
			continue
		}
		if _, ok := RelativePath(folder, full); ok {
			return name, nil
		}
	}
	allow := filepath.Dir(full)
	if allow == filepath.Dir(allow) { // never advise to allow all files
		allow = full
	}
	e := stream.Dataf(s.file, "it names %s, which is not in its own place", name)
	e.Remedy = stream.Textf("if you trust it, add {allow} %s", shell.Quote(allow))
	return "", e
}

func isBelow(folder, full string) bool {
	rest, ok := strings.CutPrefix(full, folder)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(folder, string(filepath.Separator)))
}

// AddRecorded adds the roots that a plan records (see CommonRoots): local folders, and buckets whose parameters do not
// choose the server or the credentials. All other buckets, web servers and the root of all files are usable only if the
// user allows them; the error for such a bucket names its parameters. Roots of a plan on a web server are ignored,
// because anybody may have written the plan.
func (s *Scope) AddRecorded(plan string, roots []string) {
	if l, err := store.Parse(plan); err == nil && l.IsWeb() {
		return
	}
	for _, root := range roots {
		if !IsURL(root) {
			if full := filepath.Clean(root); filepath.IsAbs(full) && full != filepath.Dir(full) {
				s.folders = append(s.folders, full)
			}
			continue
		}
		l, err := store.Parse(root)
		switch {
		case err != nil:
		case l.IsWeb():
		case slices.ContainsFunc(l.ParameterNames(), func(name string) bool { return name != "region" && name != "use_path_style" }):
			s.recordedRoots = append(s.recordedRoots, l)
		default:
			s.roots = append(s.roots, l)
		}
	}
}

// CommonRoots returns a few places that together contain all paths and URLs: for each URL its bucket or host, with its
// parameters. Absolute local paths are divided by the folder directly below the root; for all paths below the same such
// folder it returns the innermost folder that contains them.
func CommonRoots(names iter.Seq[string]) []string {
	var roots []string
	folders := map[string]string{} // by top folder
	for name := range names {
		if IsURL(name) {
			l, err := store.Parse(name)
			if root := l.WithKey("").PublicName(); err == nil && !slices.Contains(roots, root) {
				roots = append(roots, root)
			}
			continue
		}
		top, dir := TopFolder(name), filepath.Dir(name)
		if top == name { // a file in the root
			dir = name
		}
		folder, ok := folders[top]
		if !ok {
			folder = dir
		}
		for !isBelow(folder, dir) {
			folder = filepath.Dir(folder)
		}
		folders[top] = folder
	}
	return append(roots, slices.Sorted(maps.Values(folders))...)
}

// ResolveLine returns the path or URL of the file that a line of the list names. A relative path begins at the working
// directory if the list is local, and at the folder of the list if that is in a store or on a server.
func ResolveLine(list, line string) string {
	if !IsURL(list) || IsURL(line) || strings.Contains(line, "://") || filepath.IsAbs(line) {
		return line
	}
	l, err := store.Parse(list)
	if err != nil {
		return line
	}
	joined := path.Join("/", path.Dir(l.Key), line)[1:]
	if strings.HasSuffix(line, "/") {
		joined = FolderPrefix(joined)
	}
	return l.WithKey(joined).PublicName() // without the query of a list on a server, which signs only the list
}
