package rows

import (
	"context"
	"errors"
	"unsafe"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Walk passes over the records of several scratch files in step, one for each block of rows. A nil pass has nil
// records.
type Walk []stream.ScratchPass

// Read starts a pass that reads; for a nil file it returns nil.
func Read(f stream.ScratchFile) stream.ScratchPass { return beginPass(f, stream.ScratchRead) }

// Write starts a pass that writes.
func Write(f stream.ScratchFile) stream.ScratchPass { return beginPass(f, stream.ScratchWrite) }

// Modify starts a pass that reads and writes back.
func Modify(f stream.ScratchFile) stream.ScratchPass { return beginPass(f, stream.ScratchModify) }

func beginPass(f stream.ScratchFile, mode stream.ScratchMode) stream.ScratchPass {
	if f == nil {
		return nil
	}
	return f.Pass(mode)
}

// Next lends the records of the next block, stored in records, until the following call of Next or Close.
func (w Walk) Next(records [][]byte) (err error) {
	for i, p := range w {
		if p == nil {
			continue
		}
		if records[i], err = p.Next(); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the walk. It returns err, joined with write errors.
func (w Walk) Close(err error) error {
	for _, p := range w {
		if p != nil {
			err = errors.Join(err, p.Close())
		}
	}
	return err
}

// Each walks through all blocks, and ends the passes.
func Each(ctx context.Context, blocks int, visit func(block int, records [][]byte) error, passes ...stream.ScratchPass) (err error) {
	w, records := Walk(passes), make([][]byte, len(passes))
	defer func() { err = w.Close(err) }()
	for b := range blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.Next(records); err != nil {
			return err
		}
		if err := visit(b, records); err != nil {
			return err
		}
	}
	return nil
}

// Discard closes files and skips nil ones.
func Discard(files ...stream.ScratchFile) (err error) {
	for _, f := range files {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// View returns a record's bytes as numbers. Records never leave the process, so that the byte order is the
// machine's; they are aligned to 8 bytes.
func View[T uint8 | int16 | int32 | float32 | float64](record []byte) []T {
	var zero T
	if len(record) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&record[0])), len(record)/int(unsafe.Sizeof(zero)))
}
