// Package place tells what an argument names that stands for a file: a local path, a
// file:// URL of one, or an object of a store.
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

// Local is the path that a file:// URL names; anything else is returned as it is. A URL of
// another machine's file is a *stream.UsageError.
func Local(arg string) (string, error) {
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

// FromRoot is arg as it means the same in every working directory: local paths from the root,
// URLs of stores as they are.
func FromRoot(arg string) (string, error) {
	if IsURL(arg) {
		return arg, nil
	}
	local, err := Local(arg)
	if err != nil {
		return "", err
	}
	return filepath.Abs(local)
}

// WithoutParameters is FromRoot without the parameters of a store, which a plan records once for all files.
func WithoutParameters(arg string) (string, error) {
	if !IsURL(arg) {
		return FromRoot(arg)
	}
	l, err := store.Parse(arg)
	return l.Bare().String(), err
}

// Name is how people and files may see arg: nothing secret is in it, also where it is a URL of no store.
func Name(arg string) string {
	if !IsURL(arg) {
		if !strings.Contains(arg, "://") { // a path, which files name to be found again
			return arg
		}
		return screen.Redact(arg)
	}
	l, err := store.Parse(arg)
	if err != nil { // what cannot be parsed may hold anything
		scheme, _, _ := strings.Cut(arg, "://")
		return scheme + "://…"
	}
	return screen.Redact(l.Name())
}

// key is the part of arg that is like a path.
func key(arg string) (k string, slashed bool) {
	if !IsURL(arg) {
		return arg, false
	}
	l, err := store.Parse(arg)
	if err != nil {
		return "", true
	}
	return l.Key, true
}

// Ext is the ending of the file's or object's own name.
func Ext(arg string) string {
	if k, slashed := key(arg); slashed {
		return path.Ext(k)
	}
	return filepath.Ext(Name(arg))
}

// Base is the last part of the file's or object's own name.
func Base(arg string) string {
	if k, slashed := key(arg); slashed {
		return path.Base(k)
	}
	return filepath.Base(Name(arg))
}

// WithExt is the name of arg with another ending in place of its own: advice for people.
func WithExt(arg, ending string) string {
	if IsURL(arg) {
		l, err := store.Parse(arg)
		if err != nil {
			return Name(arg)
		}
		return l.WithKey(strings.TrimSuffix(l.Key, path.Ext(l.Key)) + ending).Name()
	}
	return strings.TrimSuffix(arg, filepath.Ext(arg)) + ending
}

// Below is the place rel below the folder arg; rel has the system's separators.
func Below(arg, rel string) string {
	if !IsURL(arg) {
		if local, err := Local(arg); err == nil {
			arg = local
		}
		return filepath.Join(arg, rel)
	}
	l, err := store.Parse(arg)
	if err != nil {
		return arg // whoever opens it says what is wrong with it
	}
	return l.WithKey(Folder(l.Key) + filepath.ToSlash(rel)).String()
}

// Parent is the folder that the object at the URL arg lies in, as people may see it: its key ends
// with a slash, and the query, which may have slashes too, stays behind it.
func Parent(arg string) string {
	l, err := store.Parse(arg)
	if err != nil {
		return Name(arg)
	}
	dir, _ := path.Split(strings.TrimSuffix(l.Key, "/"))
	return l.WithKey(dir).Name()
}

// IsFolder reports whether arg names a folder: its path or key ends with a slash, or it is a
// local folder that exists.
func IsFolder(arg string) bool {
	if !IsURL(arg) {
		local, err := Local(arg)
		if err != nil {
			return false
		}
		fi, err := os.Stat(local)
		return strings.HasSuffix(arg, "/") || strings.HasSuffix(arg, string(filepath.Separator)) || err == nil && fi.IsDir()
	}
	l, err := store.Parse(arg)
	return err == nil && (l.Key == "" || strings.HasSuffix(l.Key, "/"))
}

// Folder is what the keys below the folder named key begin with.
func Folder(key string) string {
	if key == "" || strings.HasSuffix(key, "/") {
		return key
	}
	return key + "/"
}

// Under is the path of arg below a folder, with slashes; ok is false where it lies elsewhere. A local
// arg need not exist: the links on the way to it are followed, and it itself, which is replaced, is not.
func Under(folder, arg string) (rel string, ok bool) {
	switch {
	case IsURL(folder) != IsURL(arg):
		return "", false
	case IsURL(folder):
		x, err1 := store.Parse(folder)
		y, err2 := store.Parse(arg)
		if err1 != nil || err2 != nil || !Same(x.WithKey("").String(), y.WithKey("").String()) {
			return "", false
		}
		rel, ok = strings.CutPrefix(Folder(y.Key), Folder(x.Key))
		return strings.TrimSuffix(rel, "/"), ok
	}
	folder, err1 := Local(folder)
	arg, err2 := Local(arg)
	root, err3 := os.Stat(folder)
	if err1 != nil || err2 != nil || err3 != nil {
		return "", false
	}
	dir, rel := split(arg)
	at, err := filepath.EvalSymlinks(dir)
	for err != nil && dir != "." && dir != filepath.Dir(dir) { // of folders that are not there yet
		var last string
		dir, last = split(dir)
		rel = filepath.Join(last, rel)
		at, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		at, err = filepath.Abs(at)
	}
	for err == nil {
		if fi, err := os.Stat(at); err == nil && os.SameFile(fi, root) {
			return filepath.ToSlash(rel), true
		}
		if at == filepath.Dir(at) {
			break
		}
		rel, at = filepath.Join(filepath.Base(at), rel), filepath.Dir(at)
	}
	return "", false
}

// split is the folder and the last part of a path. A part .. stays, as what it leads to depends on links.
func split(arg string) (dir, last string) {
	for len(arg) > 1 && os.IsPathSeparator(arg[len(arg)-1]) {
		arg = arg[:len(arg)-1]
	}
	dir, last = filepath.Split(arg)
	if dir == "" {
		dir = "."
	}
	return dir, last
}

// Same reports whether two URLs name one object, as far as they tell: where one of them
// leaves the endpoint to the environment, they are taken for the same.
func Same(a, b string) bool {
	if !IsURL(a) || !IsURL(b) {
		return false
	}
	x, err1 := store.Parse(a)
	y, err2 := store.Parse(b)
	if err1 != nil || err2 != nil || x.Scheme != y.Scheme || x.Bucket != y.Bucket || x.Key != y.Key {
		return false
	}
	ex, ey := endpoint(x), endpoint(y)
	return ex == ey || ex == "" || ey == ""
}

func endpoint(l store.Location) string {
	_, query, _ := strings.Cut(l.WithKey("").String(), "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(values.Get("endpoint"), "/")
}

// Parameters names what decides, besides the address itself, how a URL is opened: the parameters of a store, or "a
// query" of a web address, which may be a signature.
func Parameters(arg string) []string {
	l, err := store.Parse(arg)
	switch {
	case !IsURL(arg) || err != nil:
		return nil
	case l.Web() && l.Name() != l.String():
		return []string{"a query"}
	}
	return l.Parameters()
}
