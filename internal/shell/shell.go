// Package shell writes commands that people copy to a shell.
package shell

import "strings"

// Quote writes words as a shell takes them. One that could mean something else, as the & of a
// URL's query, is quoted.
func Quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$&|;<>()*?[]{}~#!`") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}
