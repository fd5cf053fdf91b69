package atomicfile

import (
	"context"
	"io/fs"
	"os"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// NotInput refuses to put an output at the place of a file that it is made from: a
// *stream.UsageError.
func NotInput(path string, inputs ...string) error {
	if place.IsURL(path) {
		// Inputs may be a million, and reading their URLs takes a while.
		bare, _, _ := strings.Cut(path, "?")
		for _, in := range inputs {
			if strings.HasPrefix(in, bare) && place.Same(path, in) {
				return stream.Usagef("{o} %s: this would replace the input", place.Name(path))
			}
		}
		return nil
	}
	path, err := place.Local(path)
	if err != nil {
		return err
	}
	if out, err := os.Stat(path); err == nil && out.Mode().IsRegular() {
		for _, in := range inputs {
			if in, err = place.Local(in); err != nil || place.IsURL(in) {
				continue
			}
			if fi, err := os.Stat(in); err == nil && os.SameFile(fi, out) {
				return stream.Usagef("{o} %s: this would replace the input", path)
			}
		}
	}
	return nil
}

// CanWrite fails early where the file or object could not be written in the end, and
// removes what killed runs have left for it. Standard output ("" and "-") and devices can
// be written.
func CanWrite(ctx context.Context, path string) error {
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

// IsDevice reports whether path is a device or a pipe, as /dev/null, which cannot be
// replaced by a file and is written to as it stands.
func IsDevice(path string) bool {
	path, err := place.Local(path)
	if err != nil || place.IsURL(path) {
		return false
	}
	fi, err := os.Stat(path)
	return err == nil && fi.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0
}
