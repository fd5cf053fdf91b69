package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.parquet")
	formattest.Must(t, os.WriteFile(empty, nil, 0o600))
	for path, want := range map[string]string{
		filepath.Join(dir, "missing.parquet"): "no such file", dir: "directory", empty: "empty", "/dev/null": "not a regular file",
	} {
		_, err := OpenFile(t.Context(), path)
		var data *stream.DataError
		if !errors.As(err, &data) || data.Path != path || !strings.Contains(err.Error(), want) {
			t.Errorf("opening %s: %v, want a DataError about %q", path, err, want)
		}
	}
	if _, err := OpenFile(t.Context(), filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file cannot be told from others: %v", err)
	}
	full := filepath.Join(dir, "full")
	formattest.Must(t, os.WriteFile(full, []byte("12345"), 0o600))
	in, err := OpenFile(t.Context(), full)
	if err != nil || in.Size() != 5 || in.Name() != full {
		t.Fatalf("opening %s: %v, %v, want 5 bytes under this name", full, in, err)
	}
	if err := in.Close(); err != nil {
		t.Errorf("closing %s: %v", full, err)
	}
}
