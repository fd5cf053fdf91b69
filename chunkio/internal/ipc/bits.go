package ipc

// bitReader reads consecutive bits of a buffer.
type bitReader struct {
	r    *bufferReader
	skip int // bits of the held byte passed already; 0: none held
	buf  []byte
}

// openBits begins at bit from; all bits before to must exist.
func (b *bodyReader) openBits(buf buffer, from, to int64) (*bitReader, error) {
	r, err := b.open(buf, from/8, (to+7)/8)
	if err != nil {
		return nil, err
	}
	t := &bitReader{r: r, buf: make([]byte, 1, 1+(min(to-from, tileValues)+7)/8+1)}
	if t.skip = int(from % 8); t.skip > 0 {
		if err := r.full(t.buf[:1]); err != nil {
			r.close()
			return nil, err
		}
	}
	return t, nil
}

// next calls f for every i < n whose bit is want.
func (t *bitReader) next(n int, want byte, f func(i int)) error {
	for done := 0; done < n; {
		k := min(n-done, tileValues)
		carried := 0
		if t.skip > 0 {
			carried = 1
		}
		bytes := (t.skip + k + 7) / 8
		if cap(t.buf) < bytes {
			t.buf = append(make([]byte, 0, bytes), t.buf[:carried]...)
		}
		t.buf = t.buf[:bytes]
		if err := t.r.full(t.buf[carried:]); err != nil {
			return err
		}
		for i := range k {
			if at := t.skip + i; t.buf[at/8]>>(at%8)&1 == want {
				f(done + i)
			}
		}
		end := t.skip + k
		if t.skip = end % 8; t.skip > 0 {
			t.buf[0] = t.buf[bytes-1]
		}
		done += k
	}
	return nil
}

func (t *bitReader) close() {
	if t != nil {
		t.r.close()
	}
}
