package svm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A row group ends with the row that makes it so tall or so full.
const (
	groupRows    = 1 << 16
	groupEntries = 1 << 20
)

// MaxIndex is the largest index of a row.
const MaxIndex = 1<<24 - 1

// maxWord bounds a label or an entry.
const maxWord = 4 << 10

// parser gathers the rows of a group.
type parser struct {
	words words
	path  string
	limit int64 // of what it holds
	table *Table
	at    int64 // where the next group begins in the spool
	label []float64
	end   []uint32
	index []uint32
	value []float64
	buf   []byte
}

// Parse reads text of libsvm to its end and writes its rows to the spool, in about 16 MiB, at most
// limit bytes. Indices are kept as they are. Errors about the text are *stream.DataError that name
// the line.
func Parse(ctx context.Context, path string, text io.Reader, spool Spool, limit int64) (*Table, error) {
	digest := fnv.New64a()
	p := &parser{path: path, limit: limit, table: &Table{spool: spool}}
	p.words = words{from: io.TeeReader(text, digest), buf: make([]byte, 0, pieceBytes), line: 1}
	for {
		more, err := p.row()
		if err != nil {
			return nil, p.place(err)
		}
		if !more {
			break
		}
		if len(p.label)%64 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if err := p.flushFull(); err != nil {
			return nil, err
		}
	}
	if err := p.flush(); err != nil {
		return nil, err
	}
	p.table.digest = digest.Sum64()
	return p.table, nil
}

// place names the line of an error about the text.
func (p *parser) place(err error) error {
	if errors.As(err, new(*stream.MemoryError)) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return stream.Dataf(p.path, "line %d: %w: is the file cut off?", p.words.line, err)
	}
	e := stream.Dataf(p.path, "line %d: %w", p.words.line, err)
	e.Remedy = stream.PlainText("a row is: label index:value index:value …, with indices that ascend; several labels are separated by commas")
	return e
}

// row reads one row; false at the end of the text. Lines without a word are passed over.
func (p *parser) row() (bool, error) {
	var word []byte
	for {
		var err error
		if word, err = p.words.next(); err != nil {
			return false, err
		}
		if word != nil {
			break
		}
		if more, err := p.words.nextLine(); !more || err != nil {
			return false, err
		}
	}
	label, one := number(word)
	if !one {
		if !p.seesLabels(word) {
			return false, fmt.Errorf("the label %q is no number", word)
		}
		label = math.NaN()
	}
	last, isEntry := -1, !one && bytes.IndexByte(word, ':') >= 0
	for {
		if !isEntry {
			var err error
			if word, err = p.words.next(); err != nil {
				return false, err
			}
		}
		if isEntry = false; word == nil {
			break
		}
		name, text, ok := bytes.Cut(word, []byte(":"))
		if !ok {
			return false, fmt.Errorf("%q is not index:value", word)
		}
		if string(name) == "qid" && last < 0 {
			continue
		}
		index, err := strconv.ParseUint(string(name), 10, 32)
		switch {
		case err != nil:
			return false, fmt.Errorf("the index of %q is no number from 0 to %d", word, MaxIndex)
		case index > MaxIndex:
			return false, fmt.Errorf("the index %d is above %d", index, MaxIndex)
		case int(index) <= last:
			return false, fmt.Errorf("the index %d follows %d", index, last)
		}
		last = int(index)
		value, ok := number(text)
		if !ok {
			return false, fmt.Errorf("the value of %q is no number", word)
		}
		if err := p.entry(uint32(index), value); err != nil {
			return false, err
		}
	}
	p.endRow(label)
	return true, nil
}

// seesLabels notes a row with several labels, separated by commas, or without any, which begins with its first entry:
// such a text has no column of labels. It is false where the word is neither.
func (p *parser) seesLabels(word []byte) bool {
	what := fmt.Sprintf("%.40q", word)
	if name, _, ok := bytes.Cut(word, []byte(":")); ok {
		if _, err := strconv.ParseUint(string(name), 10, 32); err != nil && string(name) != "qid" {
			return false
		}
		what = "none"
	} else {
		for label := range bytes.SplitSeq(word, []byte(",")) {
			if _, ok := number(label); !ok {
				return false
			}
		}
	}
	if p.table.noLabel == "" {
		p.table.noLabel = fmt.Sprintf("rows without exactly one label (line %d: %s)", p.words.line, what)
	}
	return true
}

// entry adds an entry to the row at work.
func (p *parser) entry(index uint32, value float64) error {
	if len(p.index) == cap(p.index) {
		if err := p.room(); err != nil {
			return err
		}
	}
	p.index, p.value = append(p.index, index), append(p.value, value)
	return nil
}

// endRow ends the row at work.
func (p *parser) endRow(label float64) {
	p.label, p.end = append(p.label, label), append(p.end, uint32(len(p.index)))
}

// flushFull writes the group where it is tall or full.
func (p *parser) flushFull() error {
	if len(p.label) < groupRows && len(p.index) < groupEntries {
		return nil
	}
	return p.flush()
}

// room checks that twice the entries fit.
func (p *parser) room() error {
	if need := 3*12*int64(len(p.index)) + 2*pieceBytes; need > p.limit {
		return &stream.MemoryError{What: "reading a row group of text", Need: need, Limit: p.limit}
	}
	return nil
}

// flush writes the rows gathered as a group.
func (p *parser) flush() error {
	rows := int64(len(p.label))
	if rows == 0 {
		return nil
	}
	g := extent{at: p.at, entries: int64(len(p.index))}
	for _, side := range []func() error{
		func() error { return put(p, p.label, 8, putFloat) },
		func() error { return put(p, p.end, 4, binary.LittleEndian.AppendUint32) },
		func() error { return put(p, p.index, 4, binary.LittleEndian.AppendUint32) },
		func() error { return put(p, p.value, 8, putFloat) },
	} {
		if err := side(); err != nil {
			return err
		}
	}
	p.table.groups, p.table.rows = append(p.table.groups, g), append(p.table.rows, rows)
	p.at += g.bytes(rows)
	p.label, p.end, p.index, p.value = p.label[:0], p.end[:0], p.index[:0], p.value[:0]
	return nil
}

func putFloat(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

// put writes numbers of size bytes.
func put[T any](p *parser, x []T, size int, add func([]byte, T) []byte) error {
	for len(x) > 0 {
		n := min(len(x), pieceBytes/size)
		p.buf = p.buf[:0]
		for _, v := range x[:n] {
			p.buf = add(p.buf, v)
		}
		if _, err := p.table.spool.Write(p.buf); err != nil {
			return err
		}
		x = x[n:]
	}
	return nil
}

// number reads a number.
func number(word []byte) (float64, bool) {
	if x, ok := format.ShortDecimal(word); ok {
		return x, true
	}
	x, err := strconv.ParseFloat(string(word), 64)
	return x, err == nil
}
