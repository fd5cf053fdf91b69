package scratch

// Plain is a scratch file of bytes, without records and checksums. Disjoint ranges may be used concurrently.
type Plain struct {
	in    *Space
	disk  disk
	total int64
}

// Plain makes a file of the given size.
func (s *Space) Plain(total int64) (*Plain, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkRoom(total); err != nil {
		return nil, err
	}
	d, err := s.makeDisk(s.opt.Dir, total)
	if err != nil {
		return nil, s.Full(err)
	}
	s.countBytes(total)
	return &Plain{s, d, total}, nil
}

// ReadAt implements io.ReaderAt.
func (p *Plain) ReadAt(b []byte, off int64) (int, error) { return p.disk.ReadAt(b, off) }

// WriteAt implements io.WriterAt.
func (p *Plain) WriteAt(b []byte, off int64) (int, error) {
	n, err := p.disk.WriteAt(b, off)
	if err != nil {
		err = p.in.Full(err)
	}
	return n, err
}

// Close frees the space. Space.Close does not close the file.
func (p *Plain) Close() error {
	err := p.disk.Close()
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	p.in.countBytes(-p.total)
	p.total = 0
	return err
}
