package statsfile

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The statistics container (.ufs), version 1. All numbers are little-endian.
//
//	magic "ufsstats", version uint32, length uint32, header (JSON), xxhash64 of the JSON
//	a section:  1 byte 1, length of the name uint8, name,
//	            blocks: compressed length uint32 > 0, one zstd frame of at most 1 MiB,
//	            uint32 0, length uint64 and xxhash64 of the section's uncompressed bytes
//	…
//	the end:    1 byte 0, xxhash64 of everything before it; nothing after
//
// It is canonical: the same header and sections give the same bytes, because blocks
// are cut at fixed lengths and compressed one at a time at a fixed level.
const (
	statsMagic = "ufsstats"

	statsVersion = 1

	statsSection = 1

	statsEnd = 0

	statsBlock = 1 << 20

	// A block that zstd cannot compress grows by zstd's framing, which is 3 bytes per 128 KiB and a header.
	maxPackedBlock = statsBlock + statsBlock/256 + 1024

	// MaxStatsHeader is the greatest length of a header in bytes: 256 MiB of JSON describe about three million columns.
	MaxStatsHeader = 256 << 20

	// Float64 Gram matrices of real-valued data shrink to 0.91 of their size at best, Gram matrices of pixels to 0.42,
	// of word counts to 0.02. The output of the fastest level is hardly longer than the output of the slowest level. On
	// one core the fastest level compresses 90 to 960 MB/s, the slowest 7 to 70 MB/s.
	statsLevel = zstd.SpeedFastest
)

// StatsHeader describes the statistics in a container. It is plain data.
type StatsHeader struct {
	Kind     string            `json:"kind"`    // "gram" or "profile"
	Version  string            `json:"version"` // of the program that wrote it
	Columns  []stream.Column   `json:"columns,omitempty"`
	LeftOut  []stream.LeftOut  `json:"left_out,omitempty"`
	Decided  []stream.LeftOut  `json:"decided,omitempty"` // columns left out by a decision during the pass
	Options  map[string]string `json:"options,omitempty"` // options that affect the statistics: label, weight, missing, sample, …
	Table    *stream.Table     `json:"table,omitempty"`   // the table of all inputs; nil for bare files, and for parts of several tables
	Part     *stream.Part      `json:"part,omitempty"`    // the shards of a plan in these statistics; nil without a plan
	Inputs   []stream.Input    `json:"inputs,omitempty"`
	Ranges   []stream.Range    `json:"ranges,omitempty"` // global rows covered
	Warnings []string          `json:"warnings,omitempty"`

	// Since means that the statistics are of the rows that Table has gained since this version. Losses describes the rows
	// that it has lost, whose statistics are in sections with the prefix LossesPrefix; nil if there are none. Subtracted
	// is the number of rows that were added to the statistics and then subtracted, as the losses of a later version or by
	// {minus}.
	Since      *int64  `json:"since,omitempty"`
	Losses     *Losses `json:"losses,omitempty"`
	Subtracted int64   `json:"subtracted,omitempty"`
}

// Losses describes the rows that a table has lost, by the files that had them.
type Losses struct {
	Inputs []stream.Input `json:"inputs,omitempty"`
	Ranges []stream.Range `json:"ranges,omitempty"` // rows of Inputs covered
}

// LossesPrefix begins the names of the sections with the statistics of the rows that a table has lost.
const LossesPrefix = "lost-"

// Section is a named sequence of bytes to write to a container.
type Section struct {
	Name string // 1 to 255 bytes, unique in the container
	Body io.WriterTo
}

// WriteStats implements chunkio.WriteStats: it writes a container to path, a file or an object, which appears there
// only once it is complete.
func WriteStats(ctx context.Context, path string, h StatsHeader, sections ...Section) error {
	f, err := atomicfile.Create(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := WriteStatsTo(f, h, sections...); err != nil {
		return err
	}
	return f.Commit()
}

// WriteStatsTo writes a container. It holds two blocks of a section in memory, never a whole section.
func WriteStatsTo(w io.Writer, h StatsHeader, sections ...Section) error {
	h.Warnings = limitWarnings(h.Warnings)
	header, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("statistics header: %w", err)
	}
	if len(header) > MaxStatsHeader {
		return fmt.Errorf("statistics header: %d bytes, at most %d fit", len(header), MaxStatsHeader)
	}
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(statsLevel), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		return err
	}
	defer pack.Close()

	sum := xxhash.New()
	out := io.MultiWriter(w, sum)
	head := []byte(statsMagic)
	head = binary.LittleEndian.AppendUint32(head, statsVersion)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(header)))
	head = append(head, header...)
	head = binary.LittleEndian.AppendUint64(head, xxhash.Sum64(header))
	if _, err := out.Write(head); err != nil {
		return err
	}
	seen := map[string]bool{}
	blocks := &blockWriter{out: out, pack: pack}
	for _, s := range sections {
		if s.Name == "" || len(s.Name) > 255 || seen[s.Name] {
			return fmt.Errorf("statistics section %q: its name is empty, too long or repeated", s.Name)
		}
		seen[s.Name] = true
		if err := blocks.writeSection(s); err != nil {
			return fmt.Errorf("statistics section %q: %w", s.Name, err)
		}
	}
	if _, err := out.Write([]byte{statsEnd}); err != nil {
		return err
	}
	_, err = w.Write(binary.LittleEndian.AppendUint64(nil, sum.Sum64()))
	return err
}

// writeSection writes one section, reusing the buffers of the previous section.
func (b *blockWriter) writeSection(s Section) error {
	head := append([]byte{statsSection, byte(len(s.Name))}, s.Name...)
	if _, err := b.out.Write(head); err != nil {
		return err
	}
	b.sum, b.length = xxhash.New(), 0
	if _, err := s.Body.WriteTo(b); err != nil {
		return err
	}
	return b.endSection()
}

// blockWriter cuts the bytes written to it into compressed blocks.
type blockWriter struct {
	out         io.Writer
	pack        *zstd.Encoder
	raw, packed []byte
	sum         *xxhash.Digest
	length      uint64
	err         error // first failure; every later call returns it
}

func (b *blockWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 && b.err == nil {
		k := min(len(p), statsBlock-len(b.raw))
		if need := len(b.raw) + k; need > cap(b.raw) { // grow step by step: most sections are far shorter than a block
			b.raw = append(make([]byte, 0, min(max(need, 2*cap(b.raw)), statsBlock)), b.raw...)
		}
		b.raw = append(b.raw, p[:k]...)
		p, n = p[k:], n+k
		if len(b.raw) == statsBlock {
			b.flushBlock()
		}
	}
	return n, b.err
}

func (b *blockWriter) flushBlock() {
	b.sum.Write(b.raw)
	b.length += uint64(len(b.raw))
	b.packed = b.pack.EncodeAll(b.raw, append(b.packed[:0], 0, 0, 0, 0))
	binary.LittleEndian.PutUint32(b.packed, uint32(len(b.packed)-4))
	_, b.err = b.out.Write(b.packed)
	b.raw = b.raw[:0]
}

func (b *blockWriter) endSection() error {
	if len(b.raw) > 0 && b.err == nil {
		b.flushBlock()
	}
	if b.err != nil {
		return b.err
	}
	end := binary.LittleEndian.AppendUint32(nil, 0)
	end = binary.LittleEndian.AppendUint64(end, b.length)
	end = binary.LittleEndian.AppendUint64(end, b.sum.Sum64())
	_, err := b.out.Write(end)
	return err
}
