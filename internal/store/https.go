package store

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// web is the dialect of any web server, which is asked without credentials.
type web struct{}

// address keeps what is escaped in the path and escapes what must be. The query is sent as
// it was given: changing it may break its signature.
func (web) address(l Location) *url.URL {
	base := &url.URL{Scheme: l.Scheme, Host: l.Bucket}
	var path strings.Builder
	for rest := l.Key; rest != ""; {
		n := 1
		if _, err := url.PathUnescape(rest[:min(3, len(rest))]); rest[0] == '%' && len(rest) >= 3 && err == nil {
			n = 3
			path.WriteString(rest[:3])
		} else {
			path.WriteString(escape(rest[:1], "/!$&'()*+,;=:@"))
		}
		rest = rest[n:]
	}
	u := addressOf(base, "/"+path.String(), nil)
	u.RawQuery = escapeControls(l.raw)
	return u
}

// escapeControls escapes the bytes that no request may have in its first line.
func escapeControls(s string) string {
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

// identity keeps servers from compressing: ranges are of the file's own bytes.
var identity = [2]string{"Accept-Encoding", "identity"}

func (w web) head(l Location) request {
	return request{method: http.MethodHead, url: w.address(l), follow: true, header: map[string]string{identity[0]: identity[1]}}
}

func (w web) object(l Location, answer *http.Response) (Object, error) {
	if answer.ContentLength < 0 {
		return Object{}, noSize()
	}
	return Object{Location: l, Size: answer.ContentLength, Version: w.version(answer.Header)}, nil
}

// version is the entity tag, or where there is none the time of the last change.
func (web) version(h http.Header) string {
	return cmp.Or(etag(h.Get("ETag")), modified(h.Get("Last-Modified")))
}

// modified is a version of an object without a tag. It is compared by us: no condition of a
// request is exact about it.
func modified(date string) string {
	if date == "" {
		return ""
	}
	return "last modified " + date
}

func (w web) get(o Object, from, to int64) request {
	h := rangeHeader(o, from, to)
	h[identity[0]] = identity[1]
	return request{method: http.MethodGet, url: w.address(o.Location), follow: true, header: h}
}

func (web) sign(context.Context, *http.Request, *section) error { return nil }

func (web) explain(l Location, r *refusal) error {
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
