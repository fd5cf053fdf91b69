package place

import (
	"os"
	"path/filepath"
	"strings"
)

// FollowLinks resolves parts .. of a path if links make them lead elsewhere than their text. After a link to a
// folder, .. is the real parent of that folder; joining paths would drop such parts textually and so read other
// files.
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
