package pipeline

import (
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Pipe is an Arrow IPC stream on standard input, which is read once, batch by batch.
type Pipe struct {
	stream     *ipc.Stream
	keepsTexts bool  // the stream keeps the texts that labels may need
	memory     int64 // limit in bytes for the whole pass
	isClaimed  atomic.Bool
	digest     digestReader
}

// batchesHeld is the number of batches in memory at once: one being consumed, one being decoded, and the next one.
const batchesHeld = 3

// batchMemory returns the bytes that one batch may use: all batches together may use half of the memory of a pass, and
// the schema of the stream the other half.
func batchMemory(memory int64) int64 { return memory / (2 * batchesHeld) }

// OpenPipe reads the stream's schema, its first batch, and further batches until the lengths of lists are known. If
// texts is set, it keeps the texts that labels may need.
func OpenPipe(r io.Reader, memory int64, texts bool) (*Pipe, error) {
	if r == nil {
		return nil, stream.Usagef("- : there is no standard input to read")
	}
	p := &Pipe{keepsTexts: texts, memory: memory}
	p.digest.reader = r
	p.digest.sum.Reset()
	var err error
	p.stream, err = ipc.NewStream(&p.digest, batchMemory(memory), memory/2, texts)
	if err != nil {
		return nil, p.scaleMemoryError(err)
	}
	return p, nil
}

// scaleMemoryError changes a MemoryError whose limit is a part of the stream's memory. The new error has the limit for
// the whole memory, and a need that is larger in proportion.
func (p *Pipe) scaleMemoryError(err error) error {
	var m *stream.MemoryError
	if !errors.As(err, &m) || m.Limit < 1 {
		return err
	}
	whole := *m
	whole.Limit = p.memory
	whole.Need = int64(math.Ceil(float64(m.Need) * float64(p.memory) / float64(m.Limit)))
	return &whole
}

// Leaves returns the leaves of the stream.
func (p *Pipe) Leaves() []format.Leaf { return p.stream.Leaves() }

// claimPass claims the one pass that a stream allows, within the given memory.
func (p *Pipe) claimPass(memory int64) error {
	if p.isClaimed.Swap(true) {
		return opening.ErrStdinOnlyOnce()
	}
	p.memory = memory
	p.stream.SetMemoryLimit(batchMemory(memory))
	return nil
}

// readBatches lists the batches as they arrive, and counts their bytes and their decoding in meter.
func (p *Pipe) readBatches(ctx context.Context, leaves []int, meter *stream.Meter) iter.Seq2[rowGroup, error] {
	return func(yield func(rowGroup, error) bool) {
		g := rowGroup{path: ipc.StreamName}
		counted := int64(0)
		p.stream.MeasureDecoding(&meter.Busy)
		for ; ; g.index++ {
			opened, rows, err := p.stream.Next(ctx, leaves)
			bytes := p.DescribeInput().Bytes
			meter.Bytes.Add(bytes - counted)
			counted = bytes
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				if g.start == 0 {
					yield(g, stream.Dataf(g.path, "the input has no rows"))
				}
				return
			}
			if err != nil {
				yield(g, p.scaleMemoryError(err))
				return
			}
			g.opened, g.rows = opened, rows
			p.digest.addRows(rows)
			if !yield(g, nil) {
				return
			}
			g.start += rows
			g.fileRow += rows
		}
	}
}

// DescribeInput describes the part of the stream that was read so far.
func (p *Pipe) DescribeInput() stream.Input {
	d := &p.digest
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return stream.Input{Path: listing.StdinName, Rows: d.rows, Bytes: d.bytes, Fingerprint: storage.FormatFingerprint(d.sum.Sum64())}
}

// digestReader counts and hashes the bytes read through it. The hash identifies a stream, which has no footer for this.
type digestReader struct {
	reader io.Reader

	mutex       sync.Mutex
	sum         xxhash.Digest
	rows, bytes int64
}

func (d *digestReader) Read(b []byte) (int, error) {
	n, err := d.reader.Read(b)
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.sum.Write(b[:n])
	d.bytes += int64(n)
	return n, err
}

func (d *digestReader) addRows(n int64) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.rows += n
}
