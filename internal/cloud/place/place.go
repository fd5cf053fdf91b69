// Package place interprets arguments that name files: local paths, file:// URLs of these, and URLs of objects in
// stores.
package place

import (
	"cmp"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

const fileScheme = "file://"

// IsURL reports whether arg is the URL of an object in a store. A file:// URL counts as a local path.
func IsURL(arg string) bool { return store.IsURL(arg) }

// LocalPath returns the path that a file:// URL names, or any other argument unchanged. The URL of a file on another
// machine is a *stream.UsageError.
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

// AbsolutePath makes arg independent of the working directory. It makes local paths absolute, and does not change URLs
// of stores.
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

// WithoutParameters returns arg like AbsolutePath, but without the parameters of a store. A plan records these once,
// not for each file.
func WithoutParameters(arg string) (string, error) {
	if !IsURL(arg) {
		return AbsolutePath(arg)
	}
	l, err := store.Parse(arg)
	return l.WithoutParameters().String(), err
}

// DisplayName returns arg in a form for messages and files: without secrets, even for a URL of an unknown kind.
func DisplayName(arg string) string {
	if !IsURL(arg) {
		if !strings.Contains(arg, "://") { // a local path, which is shown in full
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

func objectKeyOrPath(arg string) (key string, slashed bool) {
	if !IsURL(arg) {
		return arg, false
	}
	l, err := store.Parse(arg)
	if err != nil {
		return "", true
	}
	return l.Key, true
}

// Ext returns the ending of the name of a file or object, without its folder and parameters.
func Ext(arg string) string {
	if k, slashed := objectKeyOrPath(arg); slashed {
		return path.Ext(k)
	}
	return filepath.Ext(DisplayName(arg))
}

// Base returns the last part of the path of a file, or of the key of an object.
func Base(arg string) string {
	if k, slashed := objectKeyOrPath(arg); slashed {
		return path.Base(k)
	}
	return filepath.Base(DisplayName(arg))
}

// WithExt returns arg with another ending, for advice in messages.
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

// JoinBelow returns the path of a file below the folder arg. rel is the file's path relative to the folder, with the
// separators of this system.
func JoinBelow(arg, rel string) string {
	if !IsURL(arg) {
		if local, err := LocalPath(arg); err == nil {
			arg = local
		}
		return filepath.Join(arg, rel)
	}
	l, err := store.Parse(arg)
	if err != nil {
		return arg // when arg is opened, the error will be reported
	}
	return l.WithKey(FolderPrefix(l.Key) + filepath.ToSlash(rel)).String()
}

// ParentFolder returns the folder of the object at the URL arg, for messages. The key of the folder ends with a slash;
// a query may follow it.
func ParentFolder(arg string) string {
	l, err := store.Parse(arg)
	if err != nil {
		return DisplayName(arg)
	}
	dir, _ := path.Split(strings.TrimSuffix(l.Key, "/"))
	return l.WithKey(dir).PublicName()
}

// IsFolder reports whether arg names a folder: its path or key ends with a slash, or it is an existing local folder.
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

// FolderPrefix returns the prefix of all keys below the folder with the given key.
func FolderPrefix(key string) string {
	if key == "" || strings.HasSuffix(key, "/") {
		return key
	}
	return key + "/"
}

// RelativePath returns the path of arg relative to folder, with slashes; ok is false if arg is not below folder. A
// local arg need not exist. Links among its folders are followed. If arg itself is a link, it is not followed, because
// an output would replace this link.
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

// splitLast splits a path before its last part. It does not resolve a part .., whose target depends on links.
func splitLast(arg string) (dir, last string) {
	for len(arg) > 1 && os.IsPathSeparator(arg[len(arg)-1]) {
		arg = arg[:len(arg)-1]
	}
	dir, last = filepath.Split(arg)
	dir = cmp.Or(dir, ".")
	return dir, last
}

// IsSameObject reports whether two URLs name the same object, as far as their texts show. If a URL contains no
// endpoint, the environment determines it; such a URL matches any endpoint.
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

// ParameterNames returns the names of the parameters in the URL of an object in a store. For a web address with a
// query, it returns the words "a query", because the query itself may be a signature.
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

// CheckName refuses a name that could lead out of the folder of an output, on this system or in a store. Slashes
// separate the parts of a name. A name must not contain a backslash, because this separates parts on some systems only.
func CheckName(name string) error {
	switch {
	case name == "." || strings.ContainsAny(name, "\\\x00"):
	case path.Clean(name) != name || !filepath.IsLocal(filepath.FromSlash(name)):
	case filepath.Separator == '\\' && hasShortenedPart(name):
	default:
		return nil
	}
	return stream.Errorf("%q cannot name a file in a folder", name)
}

// hasShortenedPart reports whether Windows would shorten a part of the name, by removing dots and spaces at its end.
func hasShortenedPart(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.TrimRight(part, ". ") != part {
			return true
		}
	}
	return false
}

// FollowLinks resolves the parts .. of a local path if one of them follows a link to a folder. There .. means the real
// parent of the link's target. Joining paths would remove the link and the .. from the text, and so name other files.
func FollowLinks(arg string) string {
	local, err := LocalPath(arg)
	if err != nil || IsURL(arg) {
		return arg
	}
	slashed := filepath.ToSlash(local)
	last := strings.LastIndex("/"+slashed+"/", "/../")
	if last < 0 {
		return arg
	}
	prefix, rest := slashed[:last+len("..")], slashed[last+len(".."):]
	target, err1 := os.Stat(prefix)
	cleaned, err2 := os.Stat(filepath.Clean(prefix))
	resolved, err3 := filepath.EvalSymlinks(prefix)
	if err1 != nil || err3 != nil || err2 == nil && os.SameFile(target, cleaned) {
		return arg
	}
	return filepath.Join(resolved, rest)
}
