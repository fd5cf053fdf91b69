package gates

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
