package storage

import (
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ReadHead returns the first bytes of a file.
func ReadHead(in Input) (string, error) {
	head := make([]byte, min(in.Size(), 16))
	if err := format.ReadAt(in, head, 0); err != nil {
		return "", stream.Dataf(in.Name(), "%w", err)
	}
	return string(head), nil
}

// ReadMagic returns the magic word at the beginning of a file, or "" if it has none. For an object it reads the word at
// the end, which comes with the footer, because the beginning would cost one more request.
func ReadMagic(in Input) (string, error) {
	if in.Size() == 0 {
		return "", stream.Dataf(in.Name(), "the file is empty")
	}
	word := make([]byte, min(in.Size(), int64(len(ipc.Magic))))
	at := int64(0)
	far := format.IsFar(in)
	if far {
		at = in.Size() - int64(len(word))
	}
	if err := format.ReadAt(in, word, at); err != nil {
		return "", stream.Dataf(in.Name(), "%w", err)
	}
	for _, magic := range []string{parquet.Magic, ipc.Magic} {
		if n := len(magic); len(word) >= n && (!far && string(word[:n]) == magic || far && string(word[len(word)-n:]) == magic) {
			return magic, nil
		}
	}
	if far { // the object may be incomplete, so the magic word at its beginning decides
		return ReadMagic(asLocalFile{in})
	}
	return "", nil
}

// asLocalFile makes an object look like a file on disk to its reader.
type asLocalFile struct{ Input }

// Far implements format.Far.
func (asLocalFile) Far() bool { return false }
