package ipc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// StreamMagic is the word with which each message of a stream begins since Arrow 0.15.
const StreamMagic = "\xFF\xFF\xFF\xFF"

// maxSchemaBytes limits the schema of a stream without the magic word, because any first four bytes could be a length.
const maxSchemaBytes = 1 << 20

// IsStream reports whether an input that begins with head is a stream. Since Arrow 0.15, a stream begins with the magic
// word. An older stream begins with the length of its schema, followed by the schema.
func IsStream(in format.Input, head string) bool {
	if strings.HasPrefix(head, StreamMagic) {
		return true
	}
	if len(head) < 8 {
		return false
	}
	length := int64(binary.LittleEndian.Uint32([]byte(head)))
	if length < 16 || length%4 != 0 || length > min(in.Size()-4, maxSchemaBytes) {
		return false
	}
	meta := make([]byte, length)
	if format.ReadAt(in, meta, 4) != nil {
		return false
	}
	m, err := parseMessage(meta)
	return err == nil && m.kind == schemaMessage && m.body == 0
}

// headBytes is the length of the magic word at the beginning of a file, including its padding.
const headBytes = 8

// OpenStream opens a stream that was saved to a file. It finds the messages one after the other, builds the footer that
// an Arrow file with these messages would have, and continues as Open does.
func OpenStream(in format.Input, memory int64) (*File, error) {
	s := &savedStream{Input: in}
	if err := s.indexMessages(memory); err != nil {
		return nil, errInWholeFile(in.Name(), err)
	}
	return Open(s, memory)
}

// savedStream presents a saved stream as an Arrow file: the magic word, the stream and a footer.
type savedStream struct {
	format.Input
	tail []byte // the footer, its length and the magic word
}

func (s *savedStream) Size() int64 { return headBytes + s.Input.Size() + int64(len(s.tail)) }

func (s *savedStream) Busy() *stream.Busy { return format.BusyOf(s.Input) }

func (s *savedStream) Far() bool { return format.IsFar(s.Input) }

func (s *savedStream) ReadAt(p []byte, at int64) (n int, err error) {
	head := [headBytes]byte{}
	copy(head[:], Magic)
	end := headBytes + s.Input.Size()
	for n < len(p) {
		var k int
		switch here := at + int64(n); {
		case here < 0:
			return n, fmt.Errorf("offset %d", here)
		case here < headBytes:
			k = copy(p[n:], head[here:])
		case here < end:
			part := p[n:min(int64(len(p)), int64(n)+end-here)]
			if err := format.ReadAt(s.Input, part, here-headBytes); err != nil {
				return n, err
			}
			k = len(part)
		case here < s.Size():
			k = copy(p[n:], s.tail[here-end:])
		default:
			return n, errors.New("after the end of the file")
		}
		n += k
	}
	return n, nil
}

func (s *savedStream) indexMessages(memory int64) error {
	var dicts, batches []block
	var schemaMeta []byte
	var schemaAt uint32
	defined := map[int64]uint64{} // for each dictionary: digest of its last definition
	size := s.Input.Size()
	for at := int64(0); ; {
		prefix, length, err := s.readPrefix(at)
		if err != nil {
			return err
		}
		if length == 0 {
			break
		}
		if length > size-at-prefix {
			return errNoEndOfStream
		}
		if need := 5 * (length + 24*int64(len(dicts)+len(batches))); need > memory {
			return &stream.MemoryError{What: "the messages of " + s.Name(), Need: need, Limit: memory}
		}
		meta := make([]byte, length)
		if err := format.ReadAt(s.Input, meta, at+prefix); err != nil {
			return err
		}
		m, err := parseMessage(meta)
		if err != nil {
			return fmt.Errorf("the message at byte %d: %w", at, err)
		}
		b := block{offset: headBytes + at, meta: prefix + length, body: m.body}
		if at += b.meta; m.body > size-at {
			return errNoEndOfStream
		}
		at += m.body
		switch {
		case schemaMeta == nil:
			if m.kind != schemaMessage || m.body != 0 {
				return fmt.Errorf("message of kind %d where a schema was expected", m.kind)
			}
			schemaMeta, schemaAt = meta, uint32(m.header.Pos)
		case m.kind == dictionaryMessage:
			d, err := parseDictionary(m)
			if err != nil {
				return err
			}
			// Some writers repeat the definition of a dictionary before every batch.
			sum, err := s.digestMessageMetadata(b)
			if err != nil {
				return err
			}
			known, isRepeated := defined[d.id]
			switch {
			case isRepeated && !d.delta && known != sum:
				return newRefusalError("the stream replaces a dictionary on its way, which a file cannot; hand it over on standard input (-), to a method that reads it once, as greedy")
			case !isRepeated || d.delta:
				dicts = append(dicts, b)
			}
			if !d.delta {
				defined[d.id] = sum
			}
		case m.kind == batchMessage:
			batches = append(batches, b)
		default:
			return fmt.Errorf("message of kind %d where a record batch was expected", m.kind)
		}
	}
	s.tail = appendFooter(nil, schemaMeta, schemaAt, dicts, batches)
	s.tail = binary.LittleEndian.AppendUint32(s.tail, uint32(len(s.tail)))
	s.tail = append(s.tail, Magic...)
	return nil
}

// readPrefix reads the prefix of the message at position `at`. It returns the length of the prefix, and the length of
// the metadata, which the prefix states. Since Arrow 0.15 the prefix begins with StreamMagic and has 8 bytes, not 4.
func (s *savedStream) readPrefix(at int64) (prefix, length int64, err error) {
	var word [4]byte
	for prefix < 8 {
		if at+prefix+4 > s.Input.Size() {
			return 0, 0, errNoEndOfStream
		}
		if err := format.ReadAt(s.Input, word[:], at+prefix); err != nil {
			return 0, 0, err
		}
		prefix += 4
		if length = int64(binary.LittleEndian.Uint32(word[:])); length != continuation {
			return prefix, length, nil
		}
	}
	return 0, 0, fmt.Errorf("no message of a stream at byte %d", at)
}

func (s *savedStream) digestMessageMetadata(b block) (uint64, error) {
	d := xxhash.New()
	if _, err := io.Copy(d, io.NewSectionReader(s.Input, b.offset-headBytes, b.meta+b.body)); err != nil {
		return 0, err
	}
	return d.Sum64(), nil
}

// appendFooter appends a flatbuffer with a Footer table (format/File.fbs). Its schema is the table at position schemaAt
// of the flatbuffer meta, which is copied unchanged, because all offsets in it are relative.
func appendFooter(to, meta []byte, schemaAt uint32, dicts, batches []block) []byte {
	const vtable, table = 4, 16
	const dictsAt = table + 20 // position of the length of dicts, so that the blocks after it are aligned to 8 bytes
	batchesAt := dictsAt + 8 + 24*len(dicts)
	schemaBase := uint32(batchesAt + 4 + 24*len(batches))
	le := binary.LittleEndian
	to = le.AppendUint32(to, table)
	for _, v := range []uint16{12, 20, 4, 8, 12, 16} { // sizes of the vtable and the table, and positions of the fields
		to = le.AppendUint16(to, v)
	}
	to = le.AppendUint32(to, table-vtable)
	to = le.AppendUint32(to, metadataV5)
	to = le.AppendUint32(to, schemaBase+schemaAt-(table+8))
	to = le.AppendUint32(to, dictsAt-(table+12))
	to = le.AppendUint32(to, uint32(batchesAt)-(table+16))
	to = appendBlocks(to, dicts)
	to = le.AppendUint32(to, 0)
	to = appendBlocks(to, batches)
	return append(to, meta...)
}

func appendBlocks(footer []byte, blocks []block) []byte {
	le := binary.LittleEndian
	footer = le.AppendUint32(footer, uint32(len(blocks)))
	for _, b := range blocks {
		footer = le.AppendUint64(footer, uint64(b.offset))
		footer = le.AppendUint64(footer, uint64(b.meta)) // an int32 and its padding, written as one word
		footer = le.AppendUint64(footer, uint64(b.body))
	}
	return footer
}
