package parquet

// pageMark is the start of a data page: the offset of its header, and the number of entries and rows before it. Marks
// need little memory: a page has at least as many bytes in the file as its mark has in memory.
type pageMark struct {
	at            int64
	entriesBefore int64 // entries before the page
	rowsBefore    int64 // rows that start before the page; set only for marks whose markKey.rows is true
}

// markKey identifies a list of marks by the leaf, and by whether they count rows.
type markKey struct {
	leaf int
	rows bool
}

// loadPageMarks returns the marks of the pages of a leaf. The first call for a key reads the page headers of the column
// chunk.
func loadPageMarks(g *rowGroup, key markKey, col *column, buf *scratch) ([]pageMark, error) {
	g.mu.Lock()
	marks := g.marks[key]
	g.mu.Unlock()
	if marks != nil {
		return marks, nil
	}
	walk := newChunkWalker(g.file, g.number, col, buf)
	marks, err := listPageMarks(&walk, key.rows)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.marks[key] = marks
	g.mu.Unlock()
	return marks, nil
}

// listPageMarks returns the marks of all data pages of a chunk. If rows is set, the marks also count rows, and all
// pages are decompressed for this.
func listPageMarks(p *pageWalker, rows bool) (marks []pageMark, err error) {
	if !rows {
		p.win.ahead = min(p.win.ahead, readAhead)
	}
	var seen int64
	for {
		more, err := p.nextDataPage()
		if err != nil {
			return nil, err
		}
		if !more {
			return marks, nil
		}
		marks = append(marks, pageMark{at: p.headerAt, entriesBefore: p.entriesBefore, rowsBefore: seen})
		if !rows {
			p.skipPage()
			continue
		}
		if err := p.loadPage(); err != nil {
			return nil, err
		}
		seen += int64(p.page.rows)
	}
}

// restrictTo makes p visit only the pages that begin at marks[first:last], after it has loaded the dictionary.
func (p *pageWalker) restrictTo(marks []pageMark, first, last int) error {
	end := p.win.end
	if last < len(marks) {
		end = marks[last].at
	}
	if first > 0 {
		p.win.end = marks[0].at
		for p.win.at < p.win.end { // the pages before the first data page
			if err := p.readPageHeader(); err != nil {
				return err
			}
			if p.header.Kind != DictionaryPage {
				p.skipPage()
			} else if err := p.loadDictionary(); err != nil {
				return err
			}
		}
		p.win.at, p.win.unread = marks[first].at, nil
		p.entriesBefore = marks[first].entriesBefore
	}
	p.win.end = end
	return nil
}
