package store

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// web is the dialect of any web server, used without credentials.
type web struct{}

// pageURL returns the URL of l. In the path it keeps existing escapes and escapes other special bytes. It does not
// change the query, which may contain a signature that a change would invalidate.
func (web) pageURL(l Location) *url.URL {
	base := &url.URL{Scheme: l.Scheme, Host: l.Bucket}
	var path strings.Builder
	for rest := l.Key; rest != ""; {
		n := 1
		if _, err := url.PathUnescape(rest[:min(3, len(rest))]); rest[0] == '%' && len(rest) >= 3 && err == nil {
			n = 3
			path.WriteString(rest[:3])
		} else {
			path.WriteString(percentEncode(rest[:1], "/!$&'()*+,;=:@"))
		}
		rest = rest[n:]
	}
	u := addressOf(base, "/"+path.String(), nil)
	u.RawQuery = escapeControlCharacters(l.raw)
	return u
}

func escapeControlCharacters(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", s[i])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// identityHeader asks servers not to compress, because ranges count the bytes of the uncompressed file.
var identityHeader = [2]string{"Accept-Encoding", "identity"}

func (w web) headRequest(l Location) request {
	return request{method: http.MethodHead, url: w.pageURL(l), followsRedirects: true, header: map[string]string{identityHeader[0]: identityHeader[1]}}
}

func (w web) readObject(l Location, answer *http.Response) (Object, error) {
	return readHeader(w, l, answer)
}

// versionOf returns the entity tag or, if there is no tag, the time of the last change.
func (web) versionOf(h http.Header) string {
	return cmp.Or(quotedTag(h.Get("ETag")), modifiedVersion(h.Get("Last-Modified")))
}

// modifiedVersion returns the version of an object without an entity tag. date is its Last-Modified header. It is never
// sent to servers as a condition, because they compare dates inexactly.
func modifiedVersion(date string) string {
	if date == "" {
		return ""
	}
	return "last modified " + date
}

func (w web) rangeRequest(o Object, from, to int64) request {
	h := rangeHeader(o, from, to)
	h[identityHeader[0]] = identityHeader[1]
	return request{method: http.MethodGet, url: w.pageURL(o.Location), followsRedirects: true, header: h}
}

func (web) signRequest(context.Context, *http.Request, *section) error { return nil }

func (web) explainRefusal(l Location, r *refusal) error {
	switch r.status {
	case http.StatusNotFound, http.StatusGone:
		if strings.ContainsAny(l.Key, "*[{") {
			return faultf("name each file, as in @list.txt: web servers cannot be listed, and globs match nothing there", "%w", ErrNotExist)
		}
		return faultf("check the address", "%w", ErrNotExist)
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return faultf("check the address: its query may have expired; this program knows no names and passwords of web servers", "the server refuses access: %w", r)
	}
	return faultf("see what the server's documentation says about it", "the server refused: %w", r)
}
