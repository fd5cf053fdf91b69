package gates

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// modules are the folders of this repository with a go.mod. The one in testdata stands for another author's module.
var modules = []string{".", ".ci/release", ".ci/site", ".ci/tools", "cmd/ufs-beam", "cmd/ufs-iceberg", "examples/manifests", "internal/numeric/kernel/_asm"}

// TestOneToolchain: every module requires the same Go with its patch release, and only modules of this list exist.
func TestOneToolchain(t *testing.T) {
	root := filepath.Join("..", "..")
	line := regexp.MustCompile(`(?m)^toolchain (go1\.\d+\.\d+)$`)
	pins := map[string][]string{}
	for _, dir := range modules {
		pin := "none"
		if found := line.FindStringSubmatch(textOf(t, filepath.Join(root, dir, "go.mod"))); found != nil {
			pin = found[1]
		}
		pins[pin] = append(pins[pin], dir)
	}
	if len(pins) != 1 || pins["none"] != nil {
		t.Errorf("the modules pin these toolchains, want one: %v", pins)
	}
	var found []string
	for _, pattern := range []string{"go.mod", "*/go.mod", "*/*/go.mod", "*/*/*/go.mod", "*/*/*/*/go.mod", ".ci/*/go.mod"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatalf("got error %v, want none", err)
		}
		for _, path := range paths {
			dir, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				t.Fatalf("got error %v, want none", err)
			}
			if dir = filepath.ToSlash(dir); !strings.Contains(dir, "testdata") && !slices.Contains(modules, dir) {
				found = append(found, dir)
			}
		}
	}
	if len(found) > 0 {
		t.Errorf("modules that nothing here checks: %v", found)
	}
}

// TestImageIsPinned: the example's image takes files only from sources pinned by a digest, or from nowhere. Files
// that are not part of the build are not sent to the builder.
func TestImageIsPinned(t *testing.T) {
	root := filepath.Join("..", "..")
	text := textOf(t, filepath.Join(root, "examples", "container", "Containerfile"))
	from := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(text, -1)
	if len(from) != 2 {
		t.Errorf("%d stages, want 2: %v", len(from), from)
	}
	pinned := regexp.MustCompile(`^(scratch|\$\{GO_IMAGE\}|\S+@sha256:[0-9a-f]{64})$`)
	for _, stage := range from {
		if !pinned.MatchString(stage[1]) {
			t.Errorf("FROM %s: want scratch, a digest or ${GO_IMAGE}", stage[1])
		}
	}
	for _, given := range regexp.MustCompile(`(?m)^ARG GO_IMAGE(.*)$`).FindAllStringSubmatch(text, -1) {
		if value := strings.TrimPrefix(given[1], "="); value != "" && !strings.Contains(value, "@sha256:") {
			t.Errorf("GO_IMAGE is %s by itself: want a digest, or nothing, so that a build has to name one", value)
		}
	}
	ignored := strings.Fields(textOf(t, filepath.Join(root, ".dockerignore")))
	for _, want := range []string{".git", "dist", ".release", "**/*.pem", "**/.env"} {
		if !strings.Contains(" "+strings.Join(ignored, " ")+" ", " "+want+" ") {
			t.Errorf(".dockerignore has no %s: %v", want, ignored)
		}
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	return string(b)
}
