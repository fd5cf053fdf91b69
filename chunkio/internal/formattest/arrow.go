package formattest

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// WriteArrow writes records with the same schema as an Arrow IPC stream or file. Without records, opts must contain the
// schema.
func WriteArrow(t testing.TB, stream bool, records []arrow.Record, opts ...ipc.Option) []byte {
	t.Helper()
	if len(records) > 0 {
		opts = append(opts, ipc.WithSchema(records[0].Schema()))
	}
	var b bytes.Buffer
	var w interface {
		Write(arrow.Record) error
		Close() error
	} = ipc.NewWriter(&b, opts...)
	if !stream {
		var err error
		w, err = ipc.NewFileWriter(&seekBuffer{&b}, opts...)
		Must(t, err)
	}
	for _, r := range records {
		Must(t, w.Write(r))
	}
	Must(t, w.Close())
	return b.Bytes()
}

// seekBuffer is a WriteSeeker for NewFileWriter, which uses Seek only to get the position.
type seekBuffer struct{ *bytes.Buffer }

func (b *seekBuffer) Seek(int64, int) (int64, error) { return int64(b.Len()), nil }
