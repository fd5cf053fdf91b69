package program

import (
	"io"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Writer writes to standard output or a device. It keeps its first error, so that callers need not check every write.
type Writer struct {
	w    io.Writer
	name string
	err  error
}

// NewWriter returns a Writer to w. Errors refer to w by name.
func NewWriter(w io.Writer, name string) *Writer { return &Writer{w: w, name: name} }

// Write implements io.Writer. After an error it writes nothing and returns the same error.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.w.Write(p)
	if err != nil {
		w.err = &stream.OutputError{Path: w.name, Err: err}
	}
	return n, w.err
}

// Err returns the first error, a stream.OutputError, or nil.
func (w *Writer) Err() error { return w.err }
