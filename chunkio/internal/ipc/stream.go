package ipc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// StreamName is the name of a stream's input in messages.
const StreamName = "standard input"

var errNoEndOfStream = newRefusalError("the stream ends without its end-of-stream marker: was the producer killed?")

// Stream reads an Arrow IPC stream from beginning to end. It is not safe for concurrent use. Its groups are safe for
// concurrent use, and stay valid after the next call of Next.
type Stream struct {
	r                *bufio.Reader
	memory           int64
	schema           *schema
	heapBytes        int64 // memory of the schema
	dicts            map[int64]*numberDictionary
	keepTexts        bool                      // whether to keep dictionaries of labels
	labels           map[int64]*textDictionary // the dictionaries of labels
	dictionaryValues int64                     // total number of values in the dictionaries of numbers
	codecs           *decompressorPool
	busy             *stream.Busy // time of reading and decoding batches; may be nil

	batchesAhead []*group // batches that NewStream read: one to find the codec, more to find the lengths of lists
	codec        int      // codec of the first batch, and of all other batches that are compressed
	batch        int      // number of batches read
	rows         int64    // number of rows of these batches
	err          error    // first failure, or io.EOF; every later call returns this error
}

// NewStream reads the schema and the first batch. It also reads further batches until the length of every list column
// is known, which is seldom necessary. memory limits the bytes of a single message, and of all batches that NewStream
// reads. Every group holds its message until it is closed. forSchema limits the bytes of the parsed schema. If texts is
// set, the dictionaries that DecodeTexts needs are kept.
func NewStream(r io.Reader, memory, forSchema int64, texts bool) (*Stream, error) {
	s := &Stream{r: bufio.NewReaderSize(r, 1<<16), memory: memory, dicts: map[int64]*numberDictionary{}, keepTexts: texts, labels: map[int64]*textDictionary{}, codecs: &decompressorPool{}}
	if err := s.readSchemaAndLengths(forSchema); err != nil {
		return nil, errInWholeFile(StreamName, err)
	}
	return s, nil
}

// SetMemoryLimit changes the limit on the memory of a single message.
func (s *Stream) SetMemoryLimit(memory int64) { s.memory = memory }

// MeasureDecoding makes the stream add the time of decoding all batches to b. It must be called before the first call
// of Next.
func (s *Stream) MeasureDecoding(b *stream.Busy) {
	s.busy = b
	for _, g := range s.batchesAhead {
		g.body.busy = b
	}
}

func (s *Stream) readSchemaAndLengths(forSchema int64) error {
	m, err := s.readMessage()
	if errors.Is(err, io.EOF) {
		return newRefusalError("an empty stream: it has no schema")
	} else if err != nil {
		return err
	}
	if m.kind != schemaMessage || m.body != 0 {
		return fmt.Errorf("message of kind %d where a schema was expected", m.kind)
	}
	if err := parseFlatbuffer(func() (err error) {
		shape, err := measureSchema(m.header)
		if err != nil {
			return err
		}
		if s.heapBytes = shape.heapBytes(); s.heapBytes > forSchema {
			return &stream.MemoryError{What: "the schema of the stream", Need: s.heapBytes, Limit: forSchema}
		}
		s.schema, err = parseSchema(m.header, shape)
		return err
	}); err != nil {
		return err
	}
	ctx := context.Background()
	for peekedBytes := int64(0); len(s.batchesAhead) == 0 || s.schema.hasUnknownWidths(); {
		g, err := s.readBatch(ctx)
		if errors.Is(err, io.EOF) {
			s.err = io.EOF
			break
		} else if err != nil {
			return err
		}
		s.batchesAhead = append(s.batchesAhead, g)
		if peekedBytes += g.batch.body; peekedBytes > s.memory {
			return &stream.MemoryError{What: "finding the length of the stream's lists", Need: peekedBytes, Limit: s.memory}
		}
		if err := s.schema.findWidths(ctx, g, false); err != nil {
			return err
		}
	}
	s.schema.settleWidths()
	for i := range s.schema.columns {
		c := &s.schema.columns[i]
		c.Scratch = c.decodeScratchBytes(s.schema.largestBatch(s.codec))
		if c.textField != nil {
			c.TextScratch = c.textDecodeScratchBytes(s.schema.largestBatch(s.codec))
		}
	}
	return nil
}

// Leaves lists the columns. Their numbers of nulls are unknown.
func (s *Stream) Leaves() []format.Leaf { return s.schema.copyOfLeaves() }

// HeldBytes returns the memory of the parsed schema.
func (s *Stream) HeldBytes() int64 { return s.heapBytes }

// Next returns the next record batch, or io.EOF after the end-of-stream marker.
func (s *Stream) Next(ctx context.Context, _ []int) (format.Group, int64, error) {
	if len(s.batchesAhead) > 0 {
		g := s.batchesAhead[0]
		s.batchesAhead = s.batchesAhead[1:]
		return g, g.batch.rows, nil
	}
	if s.err != nil {
		return nil, 0, s.err
	}
	g, err := s.readBatch(ctx)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			err = (&group{path: StreamName, index: s.batch}).errInBatch(err)
		}
		s.err = err
		return nil, 0, err
	}
	return g, g.batch.rows, nil
}

// readBatch reads the next record batch, and the dictionaries before it.
func (s *Stream) readBatch(ctx context.Context) (*group, error) {
	for {
		m, err := s.readMessage()
		if err != nil {
			return nil, err
		}
		switch m.kind {
		case dictionaryMessage:
			err = s.readDictionary(ctx, m)
		case batchMessage:
			return s.openBatchOfMessage(ctx, m)
		default:
			err = fmt.Errorf("message of kind %d where a record batch was expected", m.kind)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (s *Stream) openBatchOfMessage(ctx context.Context, m message) (*group, error) {
	rows := s.rows // a copy, because s.rows changes later
	g := &group{path: StreamName, index: s.batch, firstRow: func() int64 { return rows }, schema: s.schema}
	var err error
	if g.batch, err = parseBatch(m); err != nil {
		return nil, err
	}
	if err := s.schema.checkBatch(&g.batch); err != nil {
		return nil, err
	}
	switch {
	case s.batch == 0:
		s.codec = g.batch.codec
	case g.batch.codec != plainCodec && g.batch.codec != s.codec:
		// The memory was planned for the codec of the first batch.
		return nil, newRefusalError("batch %d is compressed in another way than the first; save the stream to a file", s.batch)
	}
	body, err := s.readBody(ctx, m.body, fmt.Sprintf("batch %d of the stream", s.batch))
	if err != nil {
		return nil, err
	}
	g.body = &bodyReader{r: bytes.NewReader(body), codec: g.batch.codec, codecs: s.codecs, busy: s.busy}
	g.dicts, g.texts = maps.Clone(s.dicts), maps.Clone(s.labels) // copies of the maps, because a later message may replace a dictionary
	s.batch++
	if s.rows += g.batch.rows; s.rows > maxLength {
		return nil, fmt.Errorf("damaged metadata (%d rows)", s.rows)
	}
	return g, nil
}

func (s *Stream) readDictionary(ctx context.Context, m message) error {
	d, err := parseDictionary(m)
	if err != nil {
		return err
	}
	asText := s.keepTexts && s.schema.isLabelDictionary(d.id)
	if s.schema.fieldWithDictionary(d.id) == nil && !asText { // for example a dictionary of texts that are not needed
		_, err := io.CopyN(io.Discard, onlyReader{s.r}, m.body)
		return errStreamCut(err)
	}
	body, err := s.readBody(ctx, m.body, "a dictionary of the stream")
	if err != nil {
		return err
	}
	if asText {
		addTexts(s.labels, &d, &bodyReader{r: bytes.NewReader(body), codec: d.codec, codecs: s.codecs})
		if size := s.labels[d.id].bytesOfMessages(); size > s.memory/8 {
			return &stream.MemoryError{What: "a dictionary of the stream", Need: size, Limit: s.memory / 8}
		}
	}
	if old := s.dicts[d.id]; old != nil && !d.delta {
		s.dictionaryValues -= int64(len(old.values))
	}
	n, err := s.schema.addDictionary(s.dicts, &d, &bodyReader{r: bytes.NewReader(body), codec: d.codec, codecs: s.codecs}, s.memory/8-s.dictionaryValues)
	s.dictionaryValues += n
	return err
}

// maxMetadata bounds the length of a message's metadata. A greater length means that the stream is damaged, not that
// the memory limit is too low. 256 MiB can describe about three million columns.
const maxMetadata = 256 << 20

// readMessage reads the metadata of the next message, or returns io.EOF at the end-of-stream marker. The body of the
// message must be read next.
func (s *Stream) readMessage() (m message, err error) {
	var word [4]byte
	if _, err := io.ReadFull(s.r, word[:]); err != nil {
		return m, errStreamCut(err)
	}
	length := binary.LittleEndian.Uint32(word[:])
	switch {
	case string(word[:]) == Magic[:4]:
		return m, newRefusalError("this is an Arrow file, not a stream; give it by its path")
	case string(word[:]) == "PAR1":
		return m, newRefusalError("this is a Parquet file, not an Arrow IPC stream; give it by its path")
	case length == continuation: // otherwise the word is the length, as written before Arrow 0.15
		if _, err := io.ReadFull(s.r, word[:]); err != nil {
			return m, errStreamCut(err)
		}
		length = binary.LittleEndian.Uint32(word[:])
	}
	if length == 0 {
		return m, s.checkEnd()
	}
	if length > maxMetadata {
		return m, fmt.Errorf("damaged metadata (a message of %d bytes)", length)
	}
	if int64(length) > s.memory {
		return m, &stream.MemoryError{What: "a message's metadata", Need: int64(length), Limit: s.memory}
	}
	meta, err := s.readBytesInSteps(int64(length))
	if err != nil {
		return m, err
	}
	return parseMessage(meta)
}

// checkEnd verifies that the input ends after the end-of-stream marker, so that no data are ignored silently.
func (s *Stream) checkEnd() error {
	switch _, err := s.r.ReadByte(); err {
	case nil:
		return newRefusalError("more data follows the end-of-stream marker: are these several streams? Send them one by one")
	default:
		return err
	}
}

func (s *Stream) readBody(ctx context.Context, length int64, purpose string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if length > s.memory {
		return nil, &stream.MemoryError{What: purpose, Need: length, Limit: s.memory}
	}
	return s.readBytesInSteps(length)
}

// readStep is the number of bytes that are allocated at a time if the stream claims a large length.
const readStep = 64 << 20

func (s *Stream) readBytesInSteps(length int64) ([]byte, error) {
	b := make([]byte, 0, min(length, readStep))
	for int64(len(b)) < length {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(length, 2*int64(cap(b)))), b...)
		}
		next := b[len(b):cap(b)]
		if _, err := io.ReadFull(s.r, next); err != nil {
			return nil, errStreamCut(err)
		}
		b = b[:cap(b)]
	}
	return b, nil
}

// errStreamCut returns errNoEndOfStream in place of io.EOF, for reads within the stream.
func errStreamCut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errNoEndOfStream
	}
	return err
}
