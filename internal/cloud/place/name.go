package place

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

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
