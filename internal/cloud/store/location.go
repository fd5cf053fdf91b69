package store

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Location is the address of an object, or of a prefix of keys, in an object store or on a web server:
//
//	s3://BUCKET/KEY?endpoint=http://127.0.0.1:7070&use_path_style=true&region=us-east-1&profile=P
//	gs://BUCKET/KEY?endpoint=…
//	azblob://CONTAINER/KEY?storage_account=A&endpoint=… (or domain=…&protocol=https)
//	https://HOST/PATH?ANYTHING (http:// too)
//
// The first three may also have anonymous=true. A key may contain any character. A ? begins the query only if the name
// of a parameter and = follow. So a key that is a pattern can contain ?. If several ? precede a parameter, the last of
// them begins the query. If the key itself ends like a query, String adds a query to the URL. The text after the ? of
// https:// is passed to the server unchanged and may be secret. PublicName omits it.
type Location struct {
	Scheme, Bucket, Key string // for https: Bucket is the host, and Key the path without its first /
	query               url.Values
	raw                 string // query of https, unchanged
}

// IsURL reports whether an argument names an object in a store, and not a local path or file://.
func IsURL(arg string) bool {
	scheme, _, ok := strings.Cut(arg, "://")
	switch scheme {
	case "s3", "gs", "azblob", "https", "http":
		return ok
	}
	return false
}

// WithKey returns the location of another key in the same bucket, with the same parameters.
func (l Location) WithKey(key string) Location {
	l.Key = key
	return l
}

// OpenBelow checks the location `named`, which an untrusted file contains, and returns it with the parameters of l. ok
// is false if it is in another bucket or on another host than l, is neither at the key of l nor below it, or has
// parameters other than the parameters of l.
func (l Location) OpenBelow(named Location) (opened Location, ok bool) {
	own, root := named.ParameterNames(), strings.TrimSuffix(l.Key, "/")
	switch {
	case named.Scheme != l.Scheme || !strings.EqualFold(named.Bucket, l.Bucket) || !l.IsWeb() && named.Bucket != l.Bucket:
		return l, false
	case len(own) > 0 && named.encodedParameters() != l.encodedParameters():
		return l, false
	case root == "":
	case named.Key != root && !strings.HasPrefix(named.Key, root+"/"), hasDotPart(named.Key):
		return l, false
	}
	l.Key, l.raw = named.Key, named.raw
	return l, true
}

// hasDotPart reports whether a part of the key is . or .., percent-encoded or not. If a server resolves such parts, the
// key leads out of the folder in which it seems to be.
func hasDotPart(key string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(key, func(r rune) bool { return r == '/' || r == '\\' }), func(part string) bool {
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		return part == "." || part == ".." || strings.Contains(part, "/") || strings.Contains(part, "\\")
	})
}

// WithoutParameters returns the location without parameters. It keeps the query of https://, which is part of the
// address.
func (l Location) WithoutParameters() Location {
	l.query = nil
	return l
}

// ParameterNames returns the sorted names of the parameters, without the parameters that have no effect.
func (l Location) ParameterNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(l.query)), func(name string) bool {
		return name == "anonymous" && !l.isAnonymous()
	})
}

// String returns the URL of the location. Parse returns an equal location from it.
func (l Location) String() string {
	s := l.Scheme + "://" + l.Bucket + "/" + l.Key
	switch {
	case l.IsWeb() && l.raw != "":
		return s + "?" + l.raw
	case l.IsWeb():
		return s
	case len(l.query) > 0:
		return s + "?" + l.encodedParameters()
	case parameterStart(l.Key) >= 0:
		// The end of the key looks like a query. A query without effect is appended, so that Parse takes only this one.
		return s + "?anonymous=false"
	}
	return s
}

// PublicName returns the URL for messages and files: String without the query of https://, which may be secret.
func (l Location) PublicName() string {
	l.raw = ""
	return l.String()
}

// GlobPrefix reports whether the key is a pattern with wildcards. prefix is the part of the key before the first folder
// or file name with a wildcard: all matching keys begin with it.
func (l Location) GlobPrefix() (prefix string, is bool) {
	at := strings.IndexAny(l.Key, "*?[{")
	if at < 0 {
		return l.Key, false
	}
	return l.Key[:strings.LastIndexByte(l.Key[:at], '/')+1], true
}

// IsWeb reports whether l is an address of a web server, which can be neither listed nor written, and not an address
// in an object store.
func (l Location) IsWeb() bool { return l.Scheme == "https" || l.Scheme == "http" }

func (l Location) isAnonymous() bool { return l.query.Get("anonymous") == "true" }

// encodedParameters returns the query, sorted by name. Unlike url.Values.Encode it does not encode the slashes and
// colons of an endpoint.
func (l Location) encodedParameters() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(l.query)) {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(name + "=" + percentEncode(l.query.Get(name), ":/[]"))
	}
	return b.String()
}

// percentEncode encodes all bytes except letters, digits, -._~ and the bytes in keep.
func percentEncode(s, keep string) string {
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
