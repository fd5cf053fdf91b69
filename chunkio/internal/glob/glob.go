// Package glob bounds patterns of names and looks through folders for matches.
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

// A glob is matched alternative by alternative, and its ** walk over every folder below every folder: {a,b} 27
// times, 135 bytes, took 14 s for each name.
const (
	mostAlternatives = 1000
	mostBraces       = 8 // within one another
	mostDoubleStars  = 4
)

// Fault returns why a pattern cannot be matched, or an empty string if it can be. valid is whether it is well-formed.
func Fault(pattern string, valid bool) string {
	alternatives, nested := countAlternatives(pattern)
	switch {
	case !valid:
		return "malformed glob"
	case alternatives > mostAlternatives:
		return fmt.Sprintf("its braces stand for more than %d patterns; give several patterns with fewer", mostAlternatives)
	case nested > mostBraces:
		return fmt.Sprintf("its braces are nested more than %d deep; give several patterns", mostBraces)
	case strings.Count(pattern, "**") > mostDoubleStars:
		return fmt.Sprintf("it has ** more than %d times; one stands for any number of folders", mostDoubleStars)
	}
	return ""
}

// HideSlash maps / to a rune that globs do not treat specially: a column's name is no path, and * must match all of it.
func HideSlash(s string) string { return strings.ReplaceAll(s, "/", "\x1f") }

// ColumnFault is [Fault] of a pattern of columns' names.
func ColumnFault(pattern string) string {
	return Fault(pattern, doublestar.ValidatePattern(HideSlash(pattern)))
}

// NamesColumn reports whether a pattern is the name of a column, or of the list that it is an element of.
func NamesColumn(pattern, column string) bool {
	list, _, _ := strings.Cut(column, "[")
	return pattern == column || pattern == list
}

// MatchesColumn reports whether a pattern names a column, or is a glob that matches it and has no fault.
func MatchesColumn(pattern, column string) bool {
	return NamesColumn(pattern, column) || Fault(pattern, true) == "" && doublestar.MatchUnvalidated(HideSlash(pattern), HideSlash(column))
}

// countAlternatives counts the patterns without braces that a pattern stands for, up to one above mostAlternatives,
// and how deep its braces are nested.
func countAlternatives(pattern string) (alternatives, nested int) {
	type braces struct{ before, last int } // alternatives of all but the last branch, and of that
	open := []braces{{0, 1}}
	for i := 0; i < len(pattern); i++ {
		top := &open[len(open)-1]
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '[': // a class, whose braces are no braces
			for i++; i < len(pattern) && pattern[i] != ']'; i++ {
				if pattern[i] == '\\' {
					i++
				}
			}
		case c == '{':
			open = append(open, braces{0, 1})
			nested = max(nested, len(open)-1)
		case c == ',' && len(open) > 1:
			*top = braces{min(top.before+top.last, mostAlternatives+1), 1}
		case c == '}' && len(open) > 1:
			all := top.before + top.last
			open = open[:len(open)-1]
			outer := &open[len(open)-1]
			outer.last = min(outer.last*all, mostAlternatives+1)
		}
	}
	return open[0].last, nested
}

// FindPaths returns the files and folders that a pattern of paths matches, and the folder that it begins below. It
// ends with ctx.
func FindPaths(ctx context.Context, pattern string, options ...doublestar.GlobOption) (matches []string, base string, err error) {
	base, rest := doublestar.SplitPattern(filepath.ToSlash(filepath.Clean(pattern)))
	matches, err = doublestar.Glob(untilDone{ctx, os.DirFS(base)}, rest, options...)
	if ctx.Err() != nil {
		return nil, base, ctx.Err()
	}
	for i, m := range matches {
		matches[i] = filepath.FromSlash(path.Join(base, m))
	}
	return matches, base, err
}

// untilDone is a file system as long as its context lasts.
type untilDone struct {
	ctx context.Context //nolint:containedctx // that of looking through it: fs.FS has none
	fs.FS
}

// Open implements fs.FS.
func (u untilDone) Open(name string) (fs.File, error) {
	if err := u.ctx.Err(); err != nil {
		return nil, err
	}
	return u.FS.Open(name)
}
