// Package place interprets arguments that name files: local paths, file:// URLs of them, and objects of stores.
package place

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

const fileScheme = "file://"

// IsURL reports whether arg names an object of a store; file:// URLs are local paths.
func IsURL(arg string) bool { return store.IsURL(arg) }

// LocalPath returns the path that a file:// URL names; anything else is returned unchanged. A URL of another
// machine's file is a *stream.UsageError.
func LocalPath(arg string) (string, error) {
	rest, ok := strings.CutPrefix(arg, fileScheme)
	if !ok {
		return arg, nil
	}
	if strings.HasPrefix(rest, "localhost/") {
		rest = strings.TrimPrefix(rest, "localhost")
	}
	if !strings.HasPrefix(rest, "/") {
		return "", stream.Usagef("%s: a file:// URL names a path from the root, as file:///data/part.parquet", arg)
	}
	plain, err := url.PathUnescape(rest)
	if err != nil {
		return "", stream.Usagef("%s: %v", arg, err)
	}
	return filepath.FromSlash(plain), nil
}

// AbsolutePath makes arg independent of the working directory: local paths become absolute, URLs of stores stay.
func AbsolutePath(arg string) (string, error) {
	if IsURL(arg) {
		return arg, nil
	}
	local, err := LocalPath(arg)
	if err != nil {
		return "", err
	}
	return filepath.Abs(local)
}

// WithoutParameters is AbsolutePath without the parameters of a store, which a plan records once for all files.
func WithoutParameters(arg string) (string, error) {
	if !IsURL(arg) {
		return AbsolutePath(arg)
	}
	l, err := store.Parse(arg)
	return l.WithoutParameters().String(), err
}

// DisplayName returns arg as people and files may see it, without secrets, even if it is a URL of no store.
func DisplayName(arg string) string {
	if !IsURL(arg) {
		if !strings.Contains(arg, "://") { // a path: files repeat it so that it can be found again
			return arg
		}
		return screen.Redact(arg)
	}
	l, err := store.Parse(arg)
	if err != nil { // a URL that cannot be parsed may contain anything
		scheme, _, _ := strings.Cut(arg, "://")
		return scheme + "://…"
	}
	return screen.Redact(l.PublicName())
}

func keyOrPath(arg string) (k string, slashed bool) {
	if !IsURL(arg) {
		return arg, false
	}
	l, err := store.Parse(arg)
	if err != nil {
		return "", true
	}
	return l.Key, true
}

// Ext returns the ending of the file's or object's own name.
func Ext(arg string) string {
	if k, slashed := keyOrPath(arg); slashed {
		return path.Ext(k)
	}
	return filepath.Ext(DisplayName(arg))
}

// Base returns the last part of the file's or object's own name.
func Base(arg string) string {
	if k, slashed := keyOrPath(arg); slashed {
		return path.Base(k)
	}
	return filepath.Base(DisplayName(arg))
}

// WithExt returns arg with another ending, as advice for people.
func WithExt(arg, ending string) string {
	if IsURL(arg) {
		l, err := store.Parse(arg)
		if err != nil {
			return DisplayName(arg)
		}
		return l.WithKey(strings.TrimSuffix(l.Key, path.Ext(l.Key)) + ending).PublicName()
	}
	return strings.TrimSuffix(arg, filepath.Ext(arg)) + ending
}

// JoinBelow joins rel, which has the system's separators, to the folder arg.
func JoinBelow(arg, rel string) string {
	if !IsURL(arg) {
		if local, err := LocalPath(arg); err == nil {
			arg = local
		}
		return filepath.Join(arg, rel)
	}
	l, err := store.Parse(arg)
	if err != nil {
		return arg // opening it will report the fault
	}
	return l.WithKey(FolderPrefix(l.Key) + filepath.ToSlash(rel)).String()
}

// ParentFolder returns the folder of the object at the URL arg, as people may see it: its key ends with a slash; a
// query, which may contain slashes too, follows it.
func ParentFolder(arg string) string {
	l, err := store.Parse(arg)
	if err != nil {
		return DisplayName(arg)
	}
	dir, _ := path.Split(strings.TrimSuffix(l.Key, "/"))
	return l.WithKey(dir).PublicName()
}

// IsFolder reports whether arg names a folder: its path or key ends with a slash, or it is a
// local folder that exists.
func IsFolder(arg string) bool {
	if !IsURL(arg) {
		local, err := LocalPath(arg)
		if err != nil {
			return false
		}
		fi, err := os.Stat(local)
		return strings.HasSuffix(arg, "/") || strings.HasSuffix(arg, string(filepath.Separator)) || err == nil && fi.IsDir()
	}
	l, err := store.Parse(arg)
	return err == nil && (l.Key == "" || strings.HasSuffix(l.Key, "/"))
}

// FolderPrefix returns the prefix of the keys below the folder named key.
func FolderPrefix(key string) string {
	if key == "" || strings.HasSuffix(key, "/") {
		return key
	}
	return key + "/"
}

// RelativePath returns the path of arg relative to a folder, with slashes; ok is false if arg lies elsewhere. A local
// arg need not exist: links on the way to it are followed, but not a link at its own place, which would be
// replaced.
func RelativePath(folder, arg string) (rel string, ok bool) {
	switch {
	case IsURL(folder) != IsURL(arg):
		return "", false
	case IsURL(folder):
		x, err1 := store.Parse(folder)
		y, err2 := store.Parse(arg)
		if err1 != nil || err2 != nil || !IsSameObject(x.WithKey("").String(), y.WithKey("").String()) {
			return "", false
		}
		rel, ok = strings.CutPrefix(FolderPrefix(y.Key), FolderPrefix(x.Key))
		return strings.TrimSuffix(rel, "/"), ok
	}
	folder, err1 := LocalPath(folder)
	arg, err2 := LocalPath(arg)
	root, err3 := os.Stat(folder)
	if err1 != nil || err2 != nil || err3 != nil {
		return "", false
	}
	dir, rel := splitLast(arg)
	resolved, err := filepath.EvalSymlinks(dir)
	for err != nil && dir != "." && dir != filepath.Dir(dir) { // folders that do not exist yet
		var last string
		dir, last = splitLast(dir)
		rel = filepath.Join(last, rel)
		resolved, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		resolved, err = filepath.Abs(resolved)
	}
	for err == nil {
		if fi, err := os.Stat(resolved); err == nil && os.SameFile(fi, root) {
			return filepath.ToSlash(rel), true
		}
		if resolved == filepath.Dir(resolved) {
			break
		}
		rel, resolved = filepath.Join(filepath.Base(resolved), rel), filepath.Dir(resolved)
	}
	return "", false
}

// splitLast splits off the last part of a path. A part .. stays, because its target depends on links.
func splitLast(arg string) (dir, last string) {
	for len(arg) > 1 && os.IsPathSeparator(arg[len(arg)-1]) {
		arg = arg[:len(arg)-1]
	}
	dir, last = filepath.Split(arg)
	if dir == "" {
		dir = "."
	}
	return dir, last
}

// IsSameObject reports whether two URLs name one object, as far as they show: if one of them leaves the endpoint to the
// environment, they count as the same.
func IsSameObject(a, b string) bool {
	if !IsURL(a) || !IsURL(b) {
		return false
	}
	x, err1 := store.Parse(a)
	y, err2 := store.Parse(b)
	if err1 != nil || err2 != nil || x.Scheme != y.Scheme || x.Bucket != y.Bucket || x.Key != y.Key {
		return false
	}
	ex, ey := endpointParameter(x), endpointParameter(y)
	return ex == ey || ex == "" || ey == ""
}

func endpointParameter(l store.Location) string {
	_, query, _ := strings.Cut(l.WithKey("").String(), "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(values.Get("endpoint"), "/")
}

// ParameterNames names the settings besides the address that decide how a URL is opened: the parameters of a store,
// or "a query" of a web address, which may be a signature.
func ParameterNames(arg string) []string {
	l, err := store.Parse(arg)
	switch {
	case !IsURL(arg) || err != nil:
		return nil
	case l.IsWeb() && l.PublicName() != l.String():
		return []string{"a query"}
	}
	return l.ParameterNames()
}
