package statsfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// SectionReader returns the uncompressed bytes of a section from its start. The caller must read to io.EOF, because the
// length and the checksum are verified only there. The reader holds two blocks in memory.
func (s *StatsReader) SectionReader(name string) (io.Reader, error) {
	e := s.findSectionExtent(name)
	if e == nil {
		return nil, errStats(s.path, fmt.Errorf("no section %q", name))
	}
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(statsBlock))
	if err != nil {
		return nil, err
	}
	return &sectionReader{
		path: s.path, extent: *e, unpack: unpack, sum: xxhash.New(),
		r: bufio.NewReader(io.NewSectionReader(s.file, e.offset, e.size)),
	}, nil
}

// sectionReader decompresses a section, and verifies it at its end.
type sectionReader struct {
	path                string
	extent              statsExtent
	r                   io.Reader
	unpack              *zstd.Decoder
	packed, block, rest []byte
	sum                 *xxhash.Digest
	length              uint64
	err                 error
}

func (r *sectionReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 && r.err == nil {
		r.rest, r.err = r.readBlock()
	}
	if len(r.rest) == 0 {
		return 0, r.err
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// readBlock decompresses one block, or verifies the section at its end.
func (r *sectionReader) readBlock() ([]byte, error) {
	var length [4]byte
	_, err := io.ReadFull(r.r, length[:])
	switch {
	case errors.Is(err, io.EOF) && r.length == r.extent.length && r.sum.Sum64() == r.extent.checksum:
		return nil, io.EOF
	case errors.Is(err, io.EOF):
		return nil, r.errSection(errors.New("the checksum is wrong"))
	case err != nil:
		return nil, r.errSection(err)
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > maxPackedBlock { // a verified file has no such block, so the file was changed after its verification
		return nil, r.errSection(errors.New("the file has changed"))
	}
	if int(n) > cap(r.packed) {
		r.packed = make([]byte, n) // not maxPackedBlock: most sections are one short block
	}
	r.packed = r.packed[:n]
	if _, err := io.ReadFull(r.r, r.packed); err != nil {
		return nil, r.errSection(err)
	}
	if r.block, err = r.unpack.DecodeAll(r.packed, r.block[:0]); err != nil {
		return nil, r.errSection(err)
	}
	r.sum.Write(r.block)
	r.length += uint64(len(r.block))
	return r.block, nil
}

func (r *sectionReader) errSection(err error) error {
	return errStats(r.path, fmt.Errorf("section %q: %w", r.extent.name, err))
}
