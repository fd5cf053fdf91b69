// Package glob checks the cost of name patterns and searches folders for matches.
package glob

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A glob is matched against each of its alternatives in turn, and each ** visits every folder below every folder. For
// example, a pattern of {a,b} 27 times in a row, which has 135 bytes, took 14 s for each name.
const (
	maxAlternatives = 1000
	maxBraceDepth   = 8 // nesting depth of braces
	maxDoubleStars  = 4
)

// PatternFault returns the reason why a pattern cannot be matched, or "". The caller has checked whether the pattern is
// well-formed: valid is the result.
func PatternFault(pattern string, valid bool) string {
	alternatives, nested := countAlternatives(pattern)
	switch {
	case !valid:
		return "malformed glob"
	case alternatives > maxAlternatives:
		return fmt.Sprintf("its braces stand for more than %d patterns; give several patterns with fewer", maxAlternatives)
	case nested > maxBraceDepth:
		return fmt.Sprintf("its braces are nested more than %d deep; give several patterns", maxBraceDepth)
	case strings.Count(pattern, "**") > maxDoubleStars:
		return fmt.Sprintf("it has ** more than %d times; one stands for any number of folders", maxDoubleStars)
	}
	return ""
}

// HideSlash replaces / by a rune that globs do not treat specially. The name of a column is not a path, so * must match
// its slashes too.
func HideSlash(s string) string { return strings.ReplaceAll(s, "/", "\x1f") }

// ColumnFault returns the reason why a pattern cannot be matched against the names of columns, or "".
func ColumnFault(pattern string) string {
	return PatternFault(pattern, doublestar.ValidatePattern(HideSlash(pattern)))
}

// NamesColumn reports whether a pattern equals the name of a column, or the name of the list that contains the column.
func NamesColumn(pattern, column string) bool {
	list, _, _ := strings.Cut(column, "[")
	return pattern == column || pattern == list
}

// MatchesColumn reports whether a pattern equals the name of a column, or is a glob without a fault that matches the
// column.
func MatchesColumn(pattern, column string) bool {
	return NamesColumn(pattern, column) || PatternFault(pattern, true) == "" && doublestar.MatchUnvalidated(HideSlash(pattern), HideSlash(column))
}

// countAlternatives returns the number of patterns without braces that a pattern represents, up to maxAlternatives+1,
// and the nesting depth of its braces.
func countAlternatives(pattern string) (alternatives, nested int) {
	type braces struct{ before, last int } // number of alternatives of all branches except the last, and of the last branch
	stack := []braces{{0, 1}}
	for i := 0; i < len(pattern); i++ {
		top := &stack[len(stack)-1]
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '[': // a character class, in which braces are literal
			for i++; i < len(pattern) && pattern[i] != ']'; i++ {
				if pattern[i] == '\\' {
					i++
				}
			}
		case c == '{':
			stack = append(stack, braces{0, 1})
			nested = max(nested, len(stack)-1)
		case c == ',' && len(stack) > 1:
			*top = braces{min(top.before+top.last, maxAlternatives+1), 1}
		case c == '}' && len(stack) > 1:
			all := top.before + top.last
			stack = stack[:len(stack)-1]
			outer := &stack[len(stack)-1]
			outer.last = min(outer.last*all, maxAlternatives+1)
		}
	}
	return stack[0].last, nested
}

// FindPaths returns the files and folders that match a pattern of paths, and the folder in which the search begins. It
// stops when ctx ends.
func FindPaths(ctx context.Context, pattern string, options ...doublestar.GlobOption) (matches []string, base string, err error) {
	base, rest := doublestar.SplitPattern(filepath.ToSlash(filepath.Clean(pattern)))
	matches, err = doublestar.Glob(contextFS{ctx, os.DirFS(base)}, rest, options...)
	if ctx.Err() != nil {
		return nil, base, ctx.Err()
	}
	for i, m := range matches {
		matches[i] = filepath.FromSlash(path.Join(base, m))
	}
	return matches, base, err
}

// contextFS is a file system whose operations fail when its context has ended.
type contextFS struct {
	ctx context.Context //nolint:containedctx // context of the search: the methods of fs.FS do not have one
	fs.FS
}

func (u contextFS) Open(name string) (fs.File, error) {
	if err := u.ctx.Err(); err != nil {
		return nil, err
	}
	return u.FS.Open(name)
}
