package atomicfile

import (
	"io/fs"
	"os"

	"github.com/ufs-stream/ufs-stream/stream"
)

// NotInput refuses to put an output at the place of a file that it is made from: a
// *stream.UsageError.
func NotInput(path string, inputs ...string) error {
	if out, err := os.Stat(path); err == nil && out.Mode().IsRegular() {
		for _, in := range inputs {
			if fi, err := os.Stat(in); err == nil && os.SameFile(fi, out) {
				return stream.Usagef("{o} %s: this would replace the input", path)
			}
		}
	}
	return nil
}

// CanWrite fails early where the file could not be written in the end, and removes what
// killed runs have left for it. Standard output ("" and "-") and devices can be written.
func CanWrite(path string) error {
	if path == "" || path == "-" || IsDevice(path) {
		return nil
	}
	f, err := Create(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// IsDevice reports whether path is a device or a pipe, as /dev/null, which cannot be
// replaced by a file and is written to as it stands.
func IsDevice(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0
}
