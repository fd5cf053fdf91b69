package listing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/glob"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// StdinName is the input argument that means standard input.
const StdinName = "-"

// ExpandInputs turns arguments into the files to read, in byte order of their paths as given. The path of a file in a
// directory begins with the directory as given. An argument is a file, a directory, a glob with *, ?, [..], {..} and
// **, the URL of one of these in an object store, or @list. A list is a file with one such argument on each line,
// relative to the working directory. If a file or folder with the name @list exists, the argument means that file or
// folder. Standard input must be the only argument, and so must a Delta table (its folder, with or without delta:// in
// front).
func ExpandInputs(ctx context.Context, a *opening.Access, args []string) (*List, error) {
	if len(args) == 0 {
		return nil, stream.Usagef("no input: name files, globs, directories, URLs, @list.txt or - for a stream on standard input")
	}
	if _, err := place.NewScope("", nil, a.Options.Allow); err != nil { // checked even if the inputs need no permission
		return nil, err
	}
	var local []string
	var lists []*List
	var finders []finder
	var named []string
	found := new(searchNotes)
	for _, arg := range args {
		if arg == StdinName {
			if len(args) > 1 {
				return nil, stream.Usagef("- (standard input) cannot be combined with other inputs")
			}
			return NewLocalList(args), nil
		}
		places, err := ExpandListArgument(ctx, a, arg)
		if err != nil {
			return nil, err
		}
		list, isList := listName(arg)
		if isList {
			named = append(named, list)
		}
		for _, place := range places {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			objects, paths, err := expandArgument(ctx, a, place, found)
			_, nests := listName(place)
			switch {
			case err == nil || !isList:
			case nests:
				return nil, stream.Dataf(list, "this list names a list, %s, and lists do not nest; write down what that one names", place)
			default:
				err = fmt.Errorf("in list %s: %w", list, err)
			}
			switch {
			case err != nil:
				return nil, err
			case objects != nil && objects.Table != nil:
				if len(args) > 1 || len(places) > 1 {
					return nil, stream.Usagef("%s: a Delta table cannot be combined with other inputs", place)
				}
				objects.Lists, objects.finders = named, []finder{logFinder(place)}
				objects.Warnings = append(objects.Warnings, warnUnreadLists(args)...)
				return objects, nil
			case objects != nil:
				lists = append(lists, objects)
			}
			if f, ok := newFinder(place, objects, paths); ok {
				finders = append(finders, f)
			}
			local = append(local, paths...)
		}
	}
	if a.Options.TableVersion != nil || !a.Options.TableAsOf.IsZero() || a.Options.TableSince != nil {
		return nil, stream.Usagef("{version}, {as-of} and {since} are for Delta tables, and the input is none")
	}
	slices.Sort(local)
	if err := refuseDuplicatePaths(local); err != nil {
		return nil, err
	}
	if len(local) > 0 {
		list := NewLocalList(local)
		list.Warnings = warnFilesInTables(local)
		lists = append(lists, list)
	}
	all, twice := mergeLists(lists)
	if twice != "" {
		return nil, errNamedTwice(twice)
	}
	all.finders, all.Lists, all.Guesses = finders, named, found.guesses
	all.Warnings = slices.Concat(all.Warnings, warnUnreadLists(args), found.warningTexts())
	return all, nil
}

func expandArgument(ctx context.Context, a *opening.Access, arg string, notes *searchNotes) (*List, []string, error) {
	if IsPlan(arg) {
		return nil, nil, stream.Usagef("%s is a plan file; read what it names with {plan} %[1]s", place.DisplayName(arg))
	}
	if table, ok := strings.CutPrefix(arg, DeltaScheme); ok {
		if !store.IsURL(table) {
			var err error
			if table, err = place.LocalPath(table); err != nil {
				return nil, nil, err
			}
		}
		list, err := expandDelta(ctx, a, table)
		return list, nil, err
	}
	var list *List
	var local []string
	var err error
	if store.IsURL(arg) {
		list, err = expandURL(ctx, a, arg, notes)
	} else {
		local, err = expandPath(ctx, arg, notes)
	}
	if table, ok := errors.AsType[*tableError](err); ok {
		if table.kind == deltaTable && table.root == "" {
			if !store.IsURL(arg) {
				arg = table.folder
			}
			list, err = expandDelta(ctx, a, arg)
			return list, nil, err
		}
		return nil, nil, table.toDataError()
	}
	return list, local, err
}

// listName returns the list that an argument names by a leading @. An argument that exists as a file does not name a
// list: a shell may have expanded a glob to it, and then the file's contents would choose the inputs.
func listName(arg string) (list string, ok bool) {
	list, ok = strings.CutPrefix(arg, "@")
	return list, ok && !pathExists(arg)
}

func warnUnreadLists(args []string) []stream.Text {
	for _, arg := range args {
		if list, ok := strings.CutPrefix(arg, "@"); ok && pathExists(arg) && pathExists(list) {
			return []stream.Text{stream.Textf("%s is read as the file or folder of that name, and not as the list %s; rename one of them if the list is meant", arg, list)}
		}
	}
	return nil
}

func followLinksOfArgument(arg string) string {
	if table, ok := strings.CutPrefix(arg, DeltaScheme); ok {
		return DeltaScheme + place.FollowLinks(table)
	}
	return place.FollowLinks(arg)
}

// ExpandListArgument returns the arguments in a list, or the argument itself if it names no list.
func ExpandListArgument(ctx context.Context, a *opening.Access, arg string) ([]string, error) {
	list, ok := listName(arg)
	if !ok {
		return []string{followLinksOfArgument(arg)}, nil
	}
	lines, err := readListLines(ctx, a, list)
	if err != nil {
		return nil, err
	}
	return resolveLines(ctx, a, list, lines)
}

func readListLines(ctx context.Context, a *opening.Access, list string) ([]string, error) {
	text, err := storage.ReadAll(ctx, list, storage.FetchOptions{Anonymous: a.Options.Anonymous, Meter: a.Options.Meter, Temp: a.Options.Spool, Memory: a.Options.Memory}, stream.PlainText("check the path of the list of inputs"))
	need := int64(2*len(text)) + listLineBytes*int64(bytes.Count(text, []byte{'\n'})) // the text as bytes and as a string
	if errors.As(err, new(*stream.MemoryError)) || err == nil && need > a.Options.Memory {
		e := stream.Dataf(place.DisplayName(list), "the list takes more than the memory for reading, %s", humanize.IBytes(uint64(a.Options.Memory)))
		e.Remedy = stream.Textf("raise {memory-limit}, or list folders or globs in place of files")
		return nil, e
	}
	if err != nil {
		return nil, storage.ErrFetch(list, err, stream.Text{})
	}
	var lines []string
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil, stream.Dataf(list, "the input list names no file")
	}
	return lines, nil
}

// listLineBytes is the memory of a line of a list without its text: its entries in growing slices of strings. With 3
// million lines, 50 bytes for each line were measured.
const listLineBytes = 64

// resolveLines returns the paths or URLs named by the lines of a list. Lines may name files in the folder of the list
// or, in a local list, in the working directory. A relative line of a local list is resolved like an argument. It may
// lead to folders above the working directory, except for the root, because from there it could name any file.
func resolveLines(ctx context.Context, a *opening.Access, list string, lines []string) ([]string, error) {
	scope, err := place.NewScope(place.DisplayName(list), place.OwnPlaces(list), a.Options.Allow)
	if err != nil {
		return nil, err
	}
	typed, err := place.NewScope(place.DisplayName(list), append(place.OwnPlaces(list), place.TopFolder(".")), a.Options.Allow)
	if err != nil {
		return nil, err
	}
	for i, line := range lines {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		named, isTable := strings.CutPrefix(line, DeltaScheme)
		within := scope
		if !store.IsURL(list) && !strings.Contains(named, "://") && !filepath.IsAbs(named) {
			within, named = typed, place.FollowLinks(named)
		}
		if named, err = within.Resolve(place.ResolveLine(list, named)); err != nil {
			return nil, err
		}
		if isTable {
			named = DeltaScheme + named
		}
		lines[i] = named
	}
	return lines, nil
}

// expandPath resolves one file, directory or glob. An argument that is exactly the name of an existing file means that
// file, even if it looks like a glob.
func expandPath(ctx context.Context, arg string, found *searchNotes) ([]string, error) {
	arg, err := place.LocalPath(arg)
	if err != nil {
		return nil, err
	}
	if scheme, _, ok := strings.Cut(arg, "://"); ok && !strings.ContainsAny(scheme, `/\`) {
		return nil, stream.Usagef("%s: unknown kind of URL%s; known are s3://, gs://, azblob://, https:// and file://, and delta:// before the folder of a table", arg,
			suggest.DidYouMean(scheme, []string{"s3", "gs", "azblob", "https", "file", "delta"}))
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return walkFolder(ctx, arg, found)
	case err == nil && !info.Mode().IsRegular():
		return nil, stream.Dataf(arg, "not a regular file; give a stream on standard input with -")
	case err == nil && opening.NamesFeatures(arg):
		e := stream.Dataf(arg, "it only names the features or cells of a matrix that CellRanger wrote")
		e.Remedy = stream.PlainText("name the folder, or the matrix alone")
		return nil, e
	case err == nil:
		found.noteGuessedFile(ctx, arg)
		return []string{arg}, nil
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(arg, "*?[{"):
		return expandGlob(ctx, arg, found)
	}
	return nil, stream.Dataf(arg, "cannot read the input: %w", storage.WithoutPath(err))
}

// expandGlob returns the matching files or, if only directories match, the data files in them. The result is the same
// as for arguments that the shell has expanded. As in shells, ** follows no links to folders: two links that lead
// upwards would give more paths than can ever be listed.
func expandGlob(ctx context.Context, pattern string, found *searchNotes) ([]string, error) {
	if fault := glob.PatternFault(filepath.ToSlash(pattern), doublestar.ValidatePathPattern(pattern)); fault != "" {
		return nil, stream.Usagef("%s: %s", pattern, fault)
	}
	options := []doublestar.GlobOption{doublestar.WithNoHidden(), doublestar.WithFailOnIOErrors()}
	if strings.Contains(pattern, "**") {
		options = append(options, doublestar.WithNoFollow())
	}
	matches, base, err := glob.FindPaths(ctx, pattern, options...)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, stream.Dataf(pathOfSearchError(err, base, pattern), "cannot be looked through: %w", storage.WithoutPath(err))
	}
	explicit := IsHiddenName(filepath.Base(pattern))
	var files, folders []string
	for _, m := range matches {
		info, err := os.Stat(m)
		switch {
		case err != nil:
			return nil, stream.Dataf(m, "cannot read the input: %w", storage.WithoutPath(err))
		case info.IsDir():
			folders = append(folders, m)
		case (explicit || !IsHiddenName(filepath.Base(m))) && !opening.NamesFeatures(m):
			files = append(files, m)
		}
	}
	if len(files) > 0 {
		for _, file := range files {
			found.noteGuessedFile(ctx, file)
		}
		return files, nil
	}
	for _, folder := range folders {
		below, err := walkFolder(ctx, folder, found)
		if err != nil {
			return nil, err
		}
		files = append(files, below...)
	}
	if len(files) == 0 {
		return nil, stream.Dataf(pattern, "no file matches")
	}
	return files, nil
}

func pathOfSearchError(err error, searchFolder, pattern string) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return filepath.Join(searchFolder, filepath.FromSlash(pe.Path))
	}
	return pattern
}

func pathExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func errNamedTwice(path string) error {
	return stream.Dataf(path, "this file is named twice among the inputs")
}

func refuseDuplicatePaths(paths []string) error {
	seen := make(map[string]string, len(paths))
	for _, path := range paths {
		target, err := filepath.EvalSymlinks(path)
		if err == nil {
			target, err = filepath.Abs(target)
		}
		if err != nil {
			return stream.Dataf(path, "cannot read the input: %w", storage.WithoutPath(err))
		}
		if first, ok := seen[target]; ok {
			if first == path {
				return errNamedTwice(path)
			}
			return stream.Dataf(path, "this is the same file as %s", first)
		}
		seen[target] = path
	}
	return nil
}

// IsPlan implements chunkio.IsPlan: it reports whether a name is the name of a plan file.
func IsPlan(path string) bool {
	name := strings.TrimSuffix(place.Base(path), planfile.Ending)
	return name != "" && name != place.Base(path)
}
