package store

import (
	"net/url"
	"strings"
)

// Location is a place in a store: an object, or a prefix of keys.
//
//	s3://BUCKET/KEY?endpoint=http://127.0.0.1:7070&use_path_style=true&region=us-east-1&profile=P
//	gs://BUCKET/KEY?endpoint=…
//	azblob://CONTAINER/KEY?storage_account=A&endpoint=…
//	https://HOST/PATH?ANYTHING (http:// too)
//
// and anonymous=true with each of the first three. A key may hold any character; ? begins
// the query only where the name of a parameter and = follow it, so that it can be a glob's.
// Of https:// all behind ? is the server's, and may be secret: Name leaves it out.
type Location struct {
	Scheme, Bucket, Key string // of https: the host, and the path without its first /
	query               url.Values
	raw                 string // query of https, as given
}

// IsURL reports whether an argument names an object store, and not a local path or file://.
func IsURL(arg string) bool {
	scheme, _, ok := strings.Cut(arg, "://")
	switch scheme {
	case "s3", "gs", "azblob", "https", "http":
		return ok
	}
	return false
}

// Parse reads a URL. Errors are *stream.UsageError and repeat nothing that may be secret.
func Parse(arg string) (Location, error) { return Location{}, errUnbuilt }

// WithKey is the location of another key in the same bucket, with the same parameters.
func (l Location) WithKey(key string) Location {
	l.Key = key
	return l
}

// String is the URL that Parse reads back.
func (l Location) String() string { return l.Scheme + "://" + l.Bucket + "/" + l.Key }

// Name is the URL as people and files may see it: String, but for https:// without query.
func (l Location) Name() string { return l.String() }

// Glob reports whether the key is a pattern, and the part of it before the first folder
// that has one: what a listing begins with.
func (l Location) Glob() (prefix string, is bool) {
	at := strings.IndexAny(l.Key, "*?[{")
	if at < 0 {
		return l.Key, false
	}
	return l.Key[:strings.LastIndexByte(l.Key[:at], '/')+1], true
}
