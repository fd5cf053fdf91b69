package gates

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
)

// A module outside builds against the public API alone, and adds its own method: a package and a line in a list.
func TestModuleOutside(t *testing.T) {
	dir, scratch := filepath.Join("..", "..", "ufs", "testdata", "outside"), t.TempDir()
	for name, from := range map[string]string{"go.mod": dir, "go.sum": filepath.Join("..", "..")} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatalf("reading a file: %v", err)
		}
		if err := os.WriteFile(filepath.Join(scratch, name), b, 0o666); err != nil {
			t.Fatalf("writing the input: %v", err)
		}
	}
	data := filepath.Join(scratch, "planted.parquet")
	if err := chunkio.WriteParquet(t.Context(), data, planted.New(planted.Options{Rows: 500}), chunkio.WriteOptions{}); err != nil {
		t.Fatalf("writing the Parquet file: %v", err)
	}
	run := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", "-modfile="+filepath.Join(scratch, "go.mod"), ".", data)
	run.Dir, run.Env = dir, append(os.Environ(), "GOWORK=off")
	out, err := run.CombinedOutput()
	if want := "spread x039 x049 x036\ngreedy x038 x033 x025\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant %s", err, out, want)
	}
}

// TestGoOfTheDocs: every Go program of docs/go.md builds outside the module and works with data. Without inputs, or
// with a path that does not exist or has no data, it ends with an error that names the path once.
func TestGoOfTheDocs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "go.md"))
	if err != nil {
		t.Fatalf("the page: %v", err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Fatal("docs/go.md has no Go")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatalf("the module's folder: %v", err)
	}
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatalf("the module: %v", err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatalf("the sums: %v", err)
	}
	outside := strings.Replace(string(module), "module github.com/ufs-stream/ufs-stream\n", "module example.com/docs\n", 1) +
		"\nrequire github.com/ufs-stream/ufs-stream v0.0.0\nreplace github.com/ufs-stream/ufs-stream => " + root + "\n"
	data := filepath.Join(t.TempDir(), "planted.parquet")
	if err := chunkio.WriteParquet(t.Context(), data, planted.New(planted.Options{Rows: 500}), chunkio.WriteOptions{}); err != nil {
		t.Fatalf("the data: %v", err)
	}
	for _, block := range blocks {
		dir := t.TempDir()
		for name, text := range map[string][]byte{"go.mod": []byte(outside), "go.sum": sums, "main.go": block[1]} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
				t.Fatalf("write %s: %v", name, err)
			}
		}
		program := filepath.Join(dir, "program")
		build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-o", program, ".")
		build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
		for _, c := range []struct {
			args []string
			ok   bool
			want string
		}{
			{nil, false, "no INPUT"},
			{[]string{"/nope"}, false, "/nope"},
			{[]string{filepath.Join(dir, "go.sum")}, false, "go.sum"},
			{[]string{data}, true, "1 x"},
		} {
			out, err := exec.CommandContext(t.Context(), program, c.args...).CombinedOutput()
			text := string(out)
			if (err == nil) != c.ok || !strings.Contains(text, c.want) || strings.Contains(text, "panic") || !c.ok && strings.Count(text, c.want) != 1 {
				t.Errorf("with arguments %q: error %v, output\n%s", c.args, err, text)
			}
		}
	}
}
