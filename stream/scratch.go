package stream

// Scratch stores data for each row, for methods that process their rows many times. The data are in memory ([InMemory])
// or in files (chunkio/scratch). Both store the same bytes, so a method has the same results with both.
type Scratch interface {
	// Reserve checks that files whose sizes add up to `total` bytes will fit, before any memory is allocated. The error is
	// a *MemoryError or describes a remedy.
	Reserve(total int64) error
	// Make returns a file of `total` bytes, divided into records of the given number of bytes. The last record may be
	// shorter. The name is used in messages.
	Make(name string, total int64, record int) (ScratchFile, error)
}

// ScratchFile is a sequence of records, whose number and size are constant. Close frees the space of the file, and must
// not be called during a pass.
type ScratchFile interface {
	// Pass starts a pass over all records, in order. Several passes at a time are allowed if all of them only read.
	Pass(mode ScratchMode) ScratchPass
	Close() error
}

// ScratchMode determines the access of a pass to the records.
type ScratchMode int

// Modes of a pass.
const (
	ScratchRead   ScratchMode = iota // records are read
	ScratchWrite                     // records are written; their old content is lost
	ScratchModify                    // records are read, and written back
)

// ScratchPass is a pass over the records of a file.
type ScratchPass interface {
	// Next returns the next record, which is valid until the following call of Next or Close. Its start is aligned to 8
	// bytes. In mode ScratchWrite its content is arbitrary. Next may also report that an earlier record could not be
	// written. A call after the last record panics.
	Next() ([]byte, error)
	// Close ends the pass, and reports failed writes that Next did not report. Records that the pass did not reach are
	// unchanged.
	Close() error
}

// InMemory is scratch space in memory: each file is one slice.
type InMemory struct{}

// Reserve implements Scratch. It accepts any size, because the caller plans the memory.
func (InMemory) Reserve(int64) error { return nil }

// Make implements Scratch: it returns a file whose content is a slice in memory.
func (InMemory) Make(_ string, total int64, record int) (ScratchFile, error) {
	return &memoryFile{make([]byte, total), record}, nil
}

type memoryFile struct {
	data   []byte
	record int // bytes of a record
}

func (f *memoryFile) Pass(ScratchMode) ScratchPass { return &memoryPass{f.data, f.record} }
func (f *memoryFile) Close() error                 { f.data = nil; return nil }

type memoryPass struct {
	rest   []byte
	record int
}

func (p *memoryPass) Next() ([]byte, error) {
	if len(p.rest) == 0 {
		panic("stream: Next beyond the last record")
	}
	n := min(p.record, len(p.rest))
	r := p.rest[:n:n]
	p.rest = p.rest[n:]
	return r, nil
}

func (p *memoryPass) Close() error { return nil }
