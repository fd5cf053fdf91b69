package rows

import (
	"context"
	"errors"
	"unsafe"

	"github.com/ufs-stream/ufs-stream/stream"
)

// ReadPass starts a pass that reads the records of f. It returns nil if f is nil.
func ReadPass(f stream.ScratchFile) stream.ScratchPass { return beginPass(f, stream.ScratchRead) }

// WritePass starts a pass that writes the records of f.
func WritePass(f stream.ScratchFile) stream.ScratchPass { return beginPass(f, stream.ScratchWrite) }

// ModifyPass starts a pass that reads the records of f and writes them back.
func ModifyPass(f stream.ScratchFile) stream.ScratchPass { return beginPass(f, stream.ScratchModify) }

func beginPass(f stream.ScratchFile, mode stream.ScratchMode) stream.ScratchPass {
	if f == nil {
		return nil
	}
	return f.Pass(mode)
}

func readRecords(passes []stream.ScratchPass, records [][]byte) (err error) {
	for i, p := range passes {
		if p == nil {
			continue
		}
		if records[i], err = p.Next(); err != nil {
			return err
		}
	}
	return nil
}

func closePasses(passes []stream.ScratchPass, err error) error {
	for _, p := range passes {
		if p != nil {
			err = errors.Join(err, p.Close())
		}
	}
	return err
}

// EachBlock calls visit with the records of every block in the files of the passes, and then ends the passes. A nil
// pass yields nil records. The records are valid until visit returns.
func EachBlock(ctx context.Context, blocks int, visit func(block int, records [][]byte) error, passes ...stream.ScratchPass) (err error) {
	defer func() { err = closePasses(passes, err) }()
	records := make([][]byte, len(passes))
	for b := range blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := readRecords(passes, records); err != nil {
			return err
		}
		if err := visit(b, records); err != nil {
			return err
		}
	}
	return nil
}

// CloseFiles closes the files that are not nil.
func CloseFiles(files ...stream.ScratchFile) (err error) {
	for _, f := range files {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// ViewNumbers returns the bytes of a record as numbers, without copying them. The byte order is the machine's, because
// records never leave the process. Records are aligned to 8 bytes.
func ViewNumbers[T uint8 | int16 | int32 | float32 | float64](record []byte) []T {
	var zero T
	if len(record) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&record[0])), len(record)/int(unsafe.Sizeof(zero)))
}
