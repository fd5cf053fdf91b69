package store

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Location is a place in a store: an object, or a prefix of keys.
//
//	s3://BUCKET/KEY?endpoint=http://127.0.0.1:7070&use_path_style=true&region=us-east-1&profile=P
//	gs://BUCKET/KEY?endpoint=…
//	azblob://CONTAINER/KEY?storage_account=A&endpoint=… (or domain=…&protocol=https)
//	https://HOST/PATH?ANYTHING (http:// too)
//
// and anonymous=true with each of the first three. A key may hold any character; ? begins
// the query only where the name of a parameter and = follow it, so that it can be a glob's,
// and of several such ? the last one does, so that String can write every key.
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

// WithKey is the location of another key in the same bucket, with the same parameters.
func (l Location) WithKey(key string) Location {
	l.Key = key
	return l
}

// String is the URL that Parse reads back.
func (l Location) String() string {
	s := l.Scheme + "://" + l.Bucket + "/" + l.Key
	switch {
	case l.Web() && l.raw != "":
		return s + "?" + l.raw
	case l.Web():
		return s
	case len(l.query) > 0:
		return s + "?" + l.parameters()
	case parameterAt(l.Key) >= 0:
		// The key ends in what looks like a query; one that changes nothing goes behind it.
		return s + "?anonymous=false"
	}
	return s
}

// Name is the URL as people and files may see it: String, but for https:// without query.
func (l Location) Name() string {
	l.raw = ""
	return l.String()
}

// Glob reports whether the key is a pattern, and the part of it before the first folder
// that has one: what a listing begins with.
func (l Location) Glob() (prefix string, is bool) {
	at := strings.IndexAny(l.Key, "*?[{")
	if at < 0 {
		return l.Key, false
	}
	return l.Key[:strings.LastIndexByte(l.Key[:at], '/')+1], true
}

// Web is whether it is an address of a web server, where nothing can be listed or written, and
// not of an object store.
func (l Location) Web() bool { return l.Scheme == "https" || l.Scheme == "http" }

// anonymous is whether its requests are not to be signed.
func (l Location) anonymous() bool { return l.query.Get("anonymous") == "true" }

// parameters writes the query, sorted by name. Unlike url.Values.Encode it leaves the
// slashes and colons of an endpoint as people write them.
func (l Location) parameters() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(l.query)) {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(name + "=" + escape(l.query.Get(name), ":/[]"))
	}
	return b.String()
}

// escape percent-encodes all bytes but letters, digits, -._~ and those of keep.
func escape(s, keep string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~"+keep, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}
