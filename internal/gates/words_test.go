package gates

import (
	"go/ast"
	"go/token"
	"path"
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
	files := 0
	err := eachGoFile(filepath.Join("..", ".."), func(name string, set *token.FileSet, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") || !want(path.Dir(name)) {
			return
		}
		files++
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					do(set.Position(lit.Pos()), text)
				}
			}
			return true
		})
	})
	if err != nil || files == 0 {
		t.Fatalf("reading the literals of %d files: %v", files, err)
	}
}

// Only the run and the command know a method by name, the default. All others take names from the list of methods.
func TestNoMethodIsKnownByName(t *testing.T) {
	// variance is also the name of an option, the share to explain.
	names := slices.DeleteFunc(methods.Names(methods.All()), func(name string) bool { return name == methods.Fallback || name == "variance" })
	literals(t, func(dir string) bool {
		return dir == "ufs" || dir == "cmd/ufs-stream" || dir == "cmd/ufs-stream/internal/print"
	}, func(at token.Position, text string) {
		if slices.Contains(names, text) {
			t.Errorf("%v names the method %q", at, text)
		}
	})
}

// The errors of libraries name options as {anchors}, not as flags of a command line.
func TestLibrariesNameNoFlags(t *testing.T) {
	flag := regexp.MustCompile(`(^|\s)--?[a-z]`)
	programs := []string{
		"cmd/ufs-stream", "cmd/ufs-stream/internal/print", "cmd/ufs-stream/internal/progress", "cmd/ufs-beam", "cmd/ufs-iceberg", "internal/app/program",
		"bench/internal/benchtest", "bench/internal/cli", "bench/internal/corpora", "bench/internal/gen", "bench/internal/kill", "bench/internal/memory", "bench/internal/paper", "bench/internal/peers", "bench/internal/quality", "bench/internal/scale", "bench/internal/small", "bench/internal/tuning", "bench/internal/workshop",
		"internal/cloud/store/storetest", "internal/testing/slurmtest", "internal/testing/testtool", "internal/testing/duckdb", // which run other programs
	}
	literals(t, func(dir string) bool { return !slices.Contains(programs, dir) }, func(at token.Position, text string) {
		if flag.MatchString(text) {
			t.Errorf("%v speaks command line: %q", at, text)
		}
	})
}
