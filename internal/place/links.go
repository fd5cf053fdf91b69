package place

import (
	"os"
	"path/filepath"
	"strings"
)

// FollowLinks returns a path without parts .. that lead elsewhere than their text does. Behind a link to a folder ..
// is the folder that this one lies in; paths that are joined lose such parts, and would read other files then.
func FollowLinks(arg string) string {
	local, err := Local(arg)
	if err != nil || IsURL(arg) {
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
	return filepath.Join(resolved, rest)
}
