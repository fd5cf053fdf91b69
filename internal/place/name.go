package place

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// CheckName refuses a name that is not a place below a folder, in this system's folders or in a store: an
// output of that name could appear elsewhere. Slashes separate the parts of a name. A backslash separates parts
// on some systems and not on others, so no name may have one.
func CheckName(name string) error {
	switch {
	case name == "." || strings.ContainsAny(name, "\\\x00"):
	case path.Clean(name) != name || !filepath.IsLocal(filepath.FromSlash(name)):
	case filepath.Separator == '\\' && hasShortened(name):
	default:
		return nil
	}
	return stream.Errorf("%q cannot name a file in a folder", name)
}

// hasShortened reports whether Windows would read a part of the name as another one: it drops dots and spaces
// at the end.
func hasShortened(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.TrimRight(part, ". ") != part {
			return true
		}
	}
	return false
}
