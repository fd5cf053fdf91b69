package rowstest

import "github.com/ufs-stream/ufs-stream/stream"

// Scratch keeps scratch files in memory. It overwrites a record with invalid numbers as soon as the user of the record
// may no longer read it.
type Scratch struct {
	memory stream.InMemory
	Open   int // number of files that are not closed
	// Next, if not nil, is called for every record of a file. If it returns an error, the pass fails with that error.
	Next func(file string) error
}

// Reserve implements stream.Scratch. Memory for any total number of bytes is available.
func (s *Scratch) Reserve(total int64) error { return s.memory.Reserve(total) }

// Make implements stream.Scratch. It makes an empty file of the given total size, divided into records.
func (s *Scratch) Make(name string, total int64, record int) (stream.ScratchFile, error) {
	f, err := s.memory.Make(name, total, record)
	s.Open++
	return &file{f, s, name}, err
}

type file struct {
	stream.ScratchFile
	scratch *Scratch
	name    string
}

func (f *file) Close() error { f.scratch.Open--; return f.ScratchFile.Close() }
func (f *file) Pass(mode stream.ScratchMode) stream.ScratchPass {
	return &pass{ScratchPass: f.ScratchFile.Pass(mode), file: f, mode: mode}
}

// pass lends copies of records to its user. At the next call it copies them back and overwrites them.
type pass struct {
	stream.ScratchPass
	file      *file
	mode      stream.ScratchMode
	own, lent []byte
}

func (p *pass) takeBackRecord() {
	if p.mode != stream.ScratchRead {
		copy(p.own, p.lent)
	}
	for i := range p.lent {
		p.lent[i] = 0xff
	}
}

func (p *pass) Next() ([]byte, error) {
	p.takeBackRecord()
	if next := p.file.scratch.Next; next != nil {
		if err := next(p.file.name); err != nil {
			return nil, err
		}
	}
	record, err := p.ScratchPass.Next()
	p.own, p.lent = record, make([]byte, len(record))
	if p.mode != stream.ScratchWrite {
		copy(p.lent, record)
	}
	return p.lent, err
}

func (p *pass) Close() error { p.takeBackRecord(); return p.ScratchPass.Close() }
