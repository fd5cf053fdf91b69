package results

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// WriteFile writes a result to the file at path, as a whole or not at all. If path is "", it writes to the writer out.
func WriteFile(ctx context.Context, path string, out io.Writer, text []byte) error {
	if path == "" {
		_, err := out.Write(text)
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return &stream.OutputError{Path: path, Err: err}
	}
	f, err := atomicfile.Create(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Commit()
}
