package gates

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/methods"
)

// literals calls do for every string literal outside tests, in the packages for which want is true.
func literals(t *testing.T, want func(dir string) bool, do func(at token.Position, text string)) {
	t.Helper()
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && strings.ContainsAny(name[:1], "._") || name == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || !want(filepath.ToSlash(dir)) {
			return err
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					do(set.Position(lit.Pos()), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// Only the run and the command know a method by name, the default. All others take names from the list of methods.
func TestNoMethodIsKnownByName(t *testing.T) {
	// variance is also the name of an option, the share to explain.
	names := slices.DeleteFunc(methods.Names(methods.All()), func(name string) bool { return name == methods.Fallback || name == "variance" })
	literals(t, func(dir string) bool { return dir == "ufs" || dir == "cmd/ufs-stream" }, func(at token.Position, text string) {
		if slices.Contains(names, text) {
			t.Errorf("%v names the method %q", at, text)
		}
	})
}

// The errors of libraries name options as {anchors}, not as flags of a command line.
func TestLibrariesNameNoFlags(t *testing.T) {
	flag := regexp.MustCompile(`(^|\s)--?[a-z]`)
	programs := []string{
		"cmd/ufs-stream", "cmd/ufs-beam", "cmd/ufs-iceberg", "internal/program",
		"bench/internal/benchtest", "bench/internal/cli", "bench/internal/corpora", "bench/internal/gen", "bench/internal/kill", "bench/internal/memory", "bench/internal/paper", "bench/internal/peers", "bench/internal/quality", "bench/internal/scale", "bench/internal/workshop",
		"internal/store/storetest", "internal/slurmtest", "internal/testtool", "internal/duckdb", // which run other programs
	}
	literals(t, func(dir string) bool { return !slices.Contains(programs, dir) }, func(at token.Position, text string) {
		if flag.MatchString(text) {
			t.Errorf("%v speaks command line: %q", at, text)
		}
	})
}
