package gates

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// eachGoFile parses the Go files below root, comments included, and passes each to visit with its slash-separated path
// from there. Folders named testdata or node_modules, and those whose name begins with a dot or an underscore, are
// left out.
func eachGoFile(root string, visit func(file string, set *token.FileSet, tree *ast.File)) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if file != root && (strings.ContainsAny(name[:1], "._") || name == "testdata" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, rel, source, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil {
			visit(rel, set, tree)
		}
		return err
	})
}

// TestArchitecture: every path that docs/architecture.md names exists, and the page links every room of package ufs.
func TestArchitecture(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	page, err := os.ReadFile(filepath.Join(docs, "architecture.md"))
	if err != nil {
		t.Fatalf("reading the page: %v", err)
	}
	links := map[string]bool{}
	for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllSubmatch(page, -1) {
		path := filepath.Join(docs, string(m[1]))
		links[path] = true
		if _, err := os.Stat(path); err != nil {
			t.Errorf("docs/architecture.md links %s, which is not there: %v", m[1], err)
		}
	}
	for _, pattern := range []string{"ufs/internal/*ing", "ufs/internal/settled", "ufs/internal/statistics"} {
		rooms, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil || len(rooms) == 0 {
			t.Fatalf("looking for %s: %d found, %v", pattern, len(rooms), err)
		}
		for _, room := range rooms {
			if !links[room] && filepath.Base(room) != "wording" {
				t.Errorf("docs/architecture.md does not link %s", room)
			}
		}
	}
}
