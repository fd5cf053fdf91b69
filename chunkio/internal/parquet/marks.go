package parquet

// mark is the start of a data page: where its header stands and what comes before it.
// A page takes at least as many bytes in the file.
type mark struct {
	at   int64
	seen int64 // entries
	rows int64 // rows that start before it; only counted for markKey.rows
}

// markKey says whose marks: of a leaf, with or without the count of rows.
type markKey struct {
	leaf int
	rows bool
}

// pageMarks returns the page starts of a leaf, walking its chunk the first time.
func (g *rowGroup) pageMarks(key markKey, col *column, buf *scratch) ([]mark, error) {
	g.mu.Lock()
	marks := g.marks[key]
	g.mu.Unlock()
	if marks != nil {
		return marks, nil
	}
	walk := g.file.pages(g.number, col, buf)
	marks, err := walkMarks(&walk, key.rows)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.marks[key] = marks
	g.mu.Unlock()
	return marks, nil
}

// walkMarks lists the data pages of a chunk. Only counting rows, which lists need,
// decompresses them.
func walkMarks(p *pages, rows bool) (marks []mark, err error) {
	if !rows {
		p.win.ahead = min(p.win.ahead, readAhead)
	}
	var seen int64
	for {
		more, err := p.next()
		if err != nil {
			return nil, err
		}
		if !more {
			return marks, nil
		}
		marks = append(marks, mark{at: p.headerAt, seen: p.seen, rows: seen})
		if !rows {
			p.pass()
			continue
		}
		if err := p.load(); err != nil {
			return nil, err
		}
		seen += int64(p.page.rows)
	}
}

// jump restricts p to the pages marks[first:last], after taking in the dictionary.
func (p *pages) jump(marks []mark, first, last int) error {
	end := p.win.end
	if last < len(marks) {
		end = marks[last].at
	}
	if first > 0 {
		p.win.end = marks[0].at
		for p.win.at < p.win.end { // what stands before the first data page
			if err := p.readHeader(); err != nil {
				return err
			}
			if p.header.Kind != DictionaryPage {
				p.pass()
			} else if err := p.loadDictionary(); err != nil {
				return err
			}
		}
		p.win.at, p.win.unread = marks[first].at, nil
		p.seen = marks[first].seen
	}
	p.win.end = end
	return nil
}
