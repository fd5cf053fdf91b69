package rowstest

import "github.com/ufs-stream/ufs-stream/stream"

// Scratch is memory that poisons records after their loan.
type Scratch struct {
	stream.InMemory
	Open int // number of files that are not closed
	// Next is called for every record of a file; the pass fails with its error. Nil does nothing.
	Next func(file string) error
}

// Make implements stream.Scratch.
func (s *Scratch) Make(name string, total int64, record int) (stream.ScratchFile, error) {
	f, err := s.InMemory.Make(name, total, record)
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

// pass lends copies, and copies them back at the next call.
type pass struct {
	stream.ScratchPass
	file      *file
	mode      stream.ScratchMode
	own, lent []byte
}

func (p *pass) takeBack() {
	if p.mode != stream.ScratchRead {
		copy(p.own, p.lent)
	}
	for i := range p.lent {
		p.lent[i] = 0xff
	}
}

func (p *pass) Next() ([]byte, error) {
	p.takeBack()
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

func (p *pass) Close() error { p.takeBack(); return p.ScratchPass.Close() }
