package formattest

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// Arrow writes records of one schema as an Arrow IPC stream or file. Without records,
// opts must name the schema.
func Arrow(t testing.TB, stream bool, records []arrow.Record, opts ...ipc.Option) []byte {
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

// seekBuffer is what NewFileWriter asks for; it only tells the position.
type seekBuffer struct{ *bytes.Buffer }

func (b *seekBuffer) Seek(int64, int) (int64, error) { return int64(b.Len()), nil }
