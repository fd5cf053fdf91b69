package place

import (
	"os"
	"path/filepath"
	"strings"
)

// FollowLinks resolves the parts .. of a local path if one of them follows a link to a folder. There .. means the real
// parent of the link's target. Joining paths would remove the link and the .. from the text, and so name other files.
func FollowLinks(arg string) string {
	local, err := LocalPath(arg)
	if err != nil || IsURL(arg) {
		return arg
	}
	slashed := filepath.ToSlash(local)
	last := strings.LastIndex("/"+slashed+"/", "/../")
	if last < 0 {
		return arg
	}
	prefix, rest := slashed[:last+len("..")], slashed[last+len(".."):]
	target, err1 := os.Stat(prefix)
	cleaned, err2 := os.Stat(filepath.Clean(prefix))
	resolved, err3 := filepath.EvalSymlinks(prefix)
	if err1 != nil || err3 != nil || err2 == nil && os.SameFile(target, cleaned) {
		return arg
	}
	return filepath.Join(resolved, rest)
}
