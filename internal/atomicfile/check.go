package atomicfile

import (
	"context"
	"io/fs"
	"os"

	"github.com/ufs-stream/ufs-stream/internal/place"
)

// CheckWritable fails early if the file or object at path could not be written in the end, and removes temporaries
// that killed runs have left for it. Standard output ("" and "-") and devices can be written.
func CheckWritable(ctx context.Context, path string) error {
	if path == "" || path == "-" || IsDevice(path) {
		return nil
	}
	if place.IsURL(path) {
		return canUpload(ctx, path)
	}
	f, err := Create(ctx, path)
	if err != nil {
		return err
	}
	return f.Close()
}

// IsDevice reports whether path is a device or a pipe such as /dev/null: it is written in place, as no file can
// replace it.
func IsDevice(path string) bool {
	path, err := place.LocalPath(path)
	if err != nil || place.IsURL(path) {
		return false
	}
	fi, err := os.Stat(path)
	return err == nil && fi.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0
}
