package chunkio

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/place"
)

// straight is arg without parts .. that lead elsewhere than their text does: behind a link to a folder .. is the
// folder that this one lies in, and paths that are joined lose it. Other files would be read then.
func straight(arg string) string {
	table, isTable := strings.CutPrefix(arg, deltaScheme)
	local, err := place.Local(table)
	if err != nil || place.IsURL(table) {
		return arg
	}
	slashed := filepath.ToSlash(local)
	last := strings.LastIndex("/"+slashed+"/", "/../")
	if last < 0 {
		return arg
	}
	back, rest := slashed[:last+len("..")], slashed[last+len(".."):]
	is, err1 := os.Stat(back)
	reads, err2 := os.Stat(filepath.Clean(back))
	resolved, err3 := filepath.EvalSymlinks(back)
	if err1 != nil || err3 != nil || err2 == nil && os.SameFile(is, reads) {
		return arg
	}
	if resolved = filepath.Join(resolved, rest); isTable {
		return deltaScheme + resolved
	}
	return resolved
}
