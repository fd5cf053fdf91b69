package gates

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/planted"
)

// A module outside builds against the public API alone, and brings a method of its own: a
// package and a line in a list.
func TestModuleOutside(t *testing.T) {
	dir, scratch := filepath.Join("..", "..", "ufs", "testdata", "outside"), t.TempDir()
	for name, from := range map[string]string{"go.mod": dir, "go.sum": filepath.Join("..", "..")} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(scratch, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(scratch, "planted.parquet")
	if err := chunkio.WriteParquet(t.Context(), data, planted.New(planted.Options{Rows: 500}), chunkio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", "-modfile="+filepath.Join(scratch, "go.mod"), ".", data)
	run.Dir, run.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := run.CombinedOutput()
	if want := "spread x039 x049 x036\nalign x008 x038 x025\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant %s", err, out, want)
	}
}
