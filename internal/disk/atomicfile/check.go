package atomicfile

import (
	"context"
	"io/fs"
	"os"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
)

// CheckWritable reports early that the file or object at path could not be written in the end. It also removes
// temporary files that killed runs have left for this file. Standard output ("" and "-") and devices count as writable.
func CheckWritable(ctx context.Context, path string) error {
	if path == "" || path == "-" || IsDevice(path) {
		return nil
	}
	if place.IsURL(path) {
		return checkUpload(ctx, path)
	}
	f, err := Create(ctx, path)
	if err != nil {
		return err
	}
	return f.Close()
}

// IsDevice reports whether path is a device, such as /dev/null, or a pipe. Output is written to the device itself,
// because no file can replace a device.
func IsDevice(path string) bool {
	path, err := place.LocalPath(path)
	if err != nil || place.IsURL(path) {
		return false
	}
	fi, err := os.Stat(path)
	return err == nil && fi.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0
}
