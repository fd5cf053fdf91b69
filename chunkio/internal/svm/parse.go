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

// A row group ends after the row with which it reaches one of these limits.
const (
	groupRows    = 1 << 16
	groupEntries = 1 << 20
)

// MaxIndex is the largest index that a row may contain.
const MaxIndex = 1<<24 - 1

// maxWord limits the length of a word, in bytes.
const maxWord = 4 << 10

// parser collects the rows of the current group.
type parser struct {
	words      *WordReader
	path       string
	limit      int64 // limit on its memory
	table      *Table
	groupStart int64 // position in the spool at which the next group starts
	labels     []float64
	rowEnds    []uint32
	indices    []uint32
	values     []float64
	buf        []byte
}

// ParseRows reads libsvm text to its end and writes its rows to the spool, using about 16 MiB of memory, and at most
// limit bytes. Indices are kept unchanged. Errors about the text are *stream.DataError that name the line.
func ParseRows(ctx context.Context, path string, text io.Reader, spool Spool, limit int64) (*Table, error) {
	digest := fnv.New64a()
	p := &parser{path: path, limit: limit, table: &Table{spool: spool}}
	p.words = NewWordReader(io.TeeReader(text, digest))
	p.words.SkipComments('#')
	for {
		more, err := p.parseRow()
		if err != nil {
			return nil, p.errAtLine(err)
		}
		if !more {
			break
		}
		if len(p.labels)%64 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if err := p.writeGroupIfFull(); err != nil {
			return nil, err
		}
	}
	if err := p.writeGroup(); err != nil {
		return nil, err
	}
	p.table.digest = digest.Sum64()
	return p.table, nil
}

func (p *parser) errAtLine(err error) error {
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

// parseRow reads one row. It returns false at the end of the text. Lines without a word are skipped.
func (p *parser) parseRow() (bool, error) {
	var word []byte
	for {
		var err error
		if word, err = p.words.NextWord(); err != nil {
			return false, err
		}
		if word != nil {
			break
		}
		if more, err := p.words.NextLine(); !more || err != nil {
			return false, err
		}
	}
	label, one := ParseNumber(word)
	if !one {
		if !p.recordLabelFault(word) {
			return false, fmt.Errorf("the label %q is no number", word)
		}
		label = math.NaN()
	}
	last, isEntry := -1, !one && bytes.IndexByte(word, ':') >= 0
	for {
		if !isEntry {
			var err error
			if word, err = p.words.NextWord(); err != nil {
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
		value, ok := ParseNumber(text)
		if !ok {
			return false, fmt.Errorf("the value of %q is no number", word)
		}
		if err := p.addEntry(uint32(index), value); err != nil {
			return false, err
		}
	}
	p.endRow(label)
	return true, nil
}

// recordLabelFault records that a row has several labels, separated by commas, or has no label and begins with its
// first entry. Such a text has no label column. It returns false if word, the first word of the row, shows neither of
// these.
func (p *parser) recordLabelFault(word []byte) bool {
	found := fmt.Sprintf("%.40q", word)
	if name, _, ok := bytes.Cut(word, []byte(":")); ok {
		if _, err := strconv.ParseUint(string(name), 10, 32); err != nil && string(name) != "qid" {
			return false
		}
		found = "none"
	} else {
		for label := range bytes.SplitSeq(word, []byte(",")) {
			if _, ok := ParseNumber(label); !ok {
				return false
			}
		}
	}
	if p.table.noLabel == "" {
		p.table.noLabel = fmt.Sprintf("rows without exactly one label (line %d: %s)", p.words.line, found)
	}
	return true
}

func (p *parser) addEntry(index uint32, value float64) error {
	if len(p.indices) == cap(p.indices) {
		if err := p.checkMemory(); err != nil {
			return err
		}
	}
	p.indices, p.values = append(p.indices, index), append(p.values, value)
	return nil
}

func (p *parser) endRow(label float64) {
	p.labels, p.rowEnds = append(p.labels, label), append(p.rowEnds, uint32(len(p.indices)))
}

func (p *parser) writeGroupIfFull() error {
	if len(p.labels) < groupRows && len(p.indices) < groupEntries {
		return nil
	}
	return p.writeGroup()
}

// checkMemory checks that there is memory for twice the current number of entries.
func (p *parser) checkMemory() error {
	if need := 3*12*int64(len(p.indices)) + 2*pieceBytes; need > p.limit {
		return &stream.MemoryError{What: "reading a row group of text", Need: need, Limit: p.limit}
	}
	return nil
}

func (p *parser) writeGroup() error {
	rows := int64(len(p.labels))
	if rows == 0 {
		return nil
	}
	g := extent{at: p.groupStart, entries: int64(len(p.indices))}
	for _, side := range []func() error{
		func() error { return writeNumbers(p, p.labels, 8, appendFloat) },
		func() error { return writeNumbers(p, p.rowEnds, 4, binary.LittleEndian.AppendUint32) },
		func() error { return writeNumbers(p, p.indices, 4, binary.LittleEndian.AppendUint32) },
		func() error { return writeNumbers(p, p.values, 8, appendFloat) },
	} {
		if err := side(); err != nil {
			return err
		}
	}
	p.table.groups, p.table.rows = append(p.table.groups, g), append(p.table.rows, rows)
	p.groupStart += g.bytesInSpool(rows)
	p.labels, p.rowEnds, p.indices, p.values = p.labels[:0], p.rowEnds[:0], p.indices[:0], p.values[:0]
	return nil
}

func appendFloat(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

func writeNumbers[T any](p *parser, numbers []T, bytesEach int, appendNumber func([]byte, T) []byte) error {
	for len(numbers) > 0 {
		n := min(len(numbers), pieceBytes/bytesEach)
		p.buf = p.buf[:0]
		for _, v := range numbers[:n] {
			p.buf = appendNumber(p.buf, v)
		}
		if _, err := p.table.spool.Write(p.buf); err != nil {
			return err
		}
		numbers = numbers[n:]
	}
	return nil
}

// ParseNumber returns the float64 that a word denotes, also NaN and infinities.
func ParseNumber(word []byte) (float64, bool) {
	if x, ok := format.ShortDecimal(word); ok {
		return x, true
	}
	x, err := strconv.ParseFloat(string(word), 64)
	return x, err == nil
}
