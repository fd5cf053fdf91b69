package delta

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// parsePath converts the path of a file from the log, which is a URI, to File.Path and to a key. All spellings of the
// same path have the same key.
func parsePath(raw string) (path, key string, err error) {
	decoded, err := url.PathUnescape(raw)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("names a file %q, whose URL-encoding is damaged: %w", raw, err)
	case strings.Contains(decoded, "\x00"):
		return "", "", fmt.Errorf("names a file %q, which no file can be called", raw)
	case decoded == "":
		return "", "", errors.New("names a file without a path")
	case !IsAbsolute(raw):
		if slices.Contains(strings.Split(decoded, "/"), "..") {
			return "", "", fmt.Errorf("names a file %q, which may lie outside the table", raw)
		}
		if IsAbsolute(decoded) { // the colon is part of a name, such as a:b
			return "./" + decoded, decoded, nil
		}
		return decoded, decoded, nil
	}
	// file:/a, file:///a and /a denote the same file.
	local, isFile := strings.CutPrefix(decoded, "file:")
	if isFile || decoded[0] == '/' {
		return raw, "/" + strings.TrimLeft(local, "/"), nil
	}
	return raw, decoded, nil
}

// IsAbsolute reports whether a path is absolute or a URI with a scheme, and not a path within the table.
func IsAbsolute(raw string) bool {
	if strings.HasPrefix(raw, "/") {
		return true
	}
	scheme, _, ok := strings.Cut(raw, ":")
	if !ok || scheme == "" || scheme[0]|0x20 < 'a' || scheme[0]|0x20 > 'z' {
		return false
	}
	return strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}
