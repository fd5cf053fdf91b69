package storage

import (
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formats"
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
	longest := 0
	for _, f := range formats.AllFormats() {
		longest = max(longest, len(f.Magic))
	}
	word := make([]byte, min(in.Size(), int64(longest)))
	at := int64(0)
	far := format.IsFar(in)
	if far {
		at = in.Size() - int64(len(word))
	}
	if err := format.ReadAt(in, word, at); err != nil {
		return "", stream.Dataf(in.Name(), "%w", err)
	}
	for _, f := range formats.AllFormats() {
		if n := len(f.Magic); n > 0 && len(word) >= n && (!far && string(word[:n]) == f.Magic || far && string(word[len(word)-n:]) == f.Magic) {
			return f.Magic, nil
		}
	}
	if far { // the object may be incomplete, so the magic word at its beginning decides
		return ReadMagic(asLocalFile{in})
	}
	return "", nil
}

// asLocalFile makes an object look like a file on disk to its reader.
type asLocalFile struct{ Input }

func (asLocalFile) Far() bool { return false }
