package budget

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// ErrLowerBound does the work of ErrForLimit, and marks the memory that the error names as only a lower bound.
func ErrLowerBound(q *request.Request, err error) error {
	err = ErrForLimit(q, err)
	if m, ok := errors.AsType[*stream.MemoryError](err); ok && m.OfMemory() {
		m.AtLeast = true
	}
	return err
}

// ErrForLimit restates a memory error about the memory for reading in terms of the whole memory limit of q.
func ErrForLimit(q *request.Request, err error) error {
	var m *stream.MemoryError
	if !errors.As(err, &m) || !m.OfMemory() {
		return err
	}
	if all, ok := err.(interface{ Unwrap() []error }); ok { // keep the error of removing leftover files
		each := all.Unwrap()
		whole := convert.Each(each, func(e error) error { return ErrForLimit(q, e) })
		return errors.Join(whole...)
	}
	whole := *m
	whole.Need, whole.Limit = m.Need+ProgramBytes, q.Limits.Memory
	if saved, ok := errors.AsType[*request.Interrupted](err); ok {
		return &request.Interrupted{Checkpoint: saved.Checkpoint, Err: &whole}
	}
	return &whole
}

// smallDocumentBytes is the size of a document that fits into the memory that is reserved for the program itself. Most
// selections and headers of statistics are smaller.
const smallDocumentBytes = 4 << 20

// ReadWithin implements ufs.Within: it calls read with room, the number of bytes that remain for reading if the process
// may use limit bytes of memory.
func ReadWithin(limit int64, read func(room int64) error) error {
	if limit == 0 {
		return read(0)
	}
	return ErrForLimit(&request.Request{Limits: request.Limits{Memory: limit}}, read(max(limit-ProgramBytes, smallDocumentBytes)))
}

// DocumentOptions returns options for fetching a document, such as a plan or selection, within the memory limit of q.
func DocumentOptions(q *request.Request) chunkio.FetchOptions {
	from := q.FetchOptions()
	if q.Limits.Memory > 0 {
		from.Memory = max(q.Limits.Memory-ProgramBytes, smallDocumentBytes)
	}
	return from
}
