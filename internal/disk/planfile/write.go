package planfile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
	"unicode/utf8"
)

// Write writes a plan and returns its ID. It iterates over files twice, first for the ID, which precedes them. Only one
// file is in memory at a time. Names that are not UTF-8 are an error, because JSON cannot represent them.
func Write(w io.Writer, h Header, files iter.Seq2[File, error]) (id string, err error) {
	h.Schema, h.ID = Schema, ""
	if err := checkTexts(h); err != nil {
		return "", err
	}
	if h.ID, err = planID(h, files); err != nil {
		return "", err
	}
	head, err := encodeHeadLine(h)
	if err != nil {
		return "", err
	}
	b := bufio.NewWriter(w)
	if _, err := b.Write(append(head, `,"files":[`...)); err != nil {
		return "", err
	}
	n := 0
	for f, err := range files {
		if err != nil {
			return "", err
		}
		line, err := marshalLine(f)
		if err != nil {
			return "", err
		}
		before := ",\n"
		if n == 0 {
			before = "\n"
		}
		if _, err := b.Write(append([]byte(before), line...)); err != nil {
			return "", err
		}
		n++
	}
	if n != h.Count {
		return "", fmt.Errorf("planfile: %d files, and the header says %d", n, h.Count)
	}
	if _, err := b.WriteString("\n]}\n"); err != nil {
		return "", err
	}
	return h.ID, b.Flush()
}

// planID returns the digest of the header (without its ID) and of every file.
func planID(h Header, files iter.Seq2[File, error]) (string, error) {
	d, err := newDigester(h)
	if err != nil {
		return "", err
	}
	for f, err := range files {
		if err != nil {
			return "", err
		}
		for _, text := range append([]string{f.Path}, f.Keys...) {
			if !utf8.ValidString(text) {
				return "", errNotUTF8(text)
			}
		}
		if err := d.addFile(f); err != nil {
			return "", err
		}
	}
	return d.shortHex(), nil
}

// checkTexts refuses a header with text that is not UTF-8, because JSON would replace it. Names of files and columns
// may contain any bytes.
func checkTexts(h Header) error {
	texts := []string{h.Method, h.Version}
	for option, text := range h.Options {
		texts = append(texts, option, text)
	}
	texts = append(append(texts, h.Keys...), h.Warnings...)
	if c := h.Catalog; c != nil {
		texts = append(texts, c.First)
		for _, l := range c.Leaves {
			texts = append(texts, l.Name, l.Type, l.Why, l.RefusedBy, l.NoClass)
			texts = append(append(texts, l.Keys...), l.Asides...)
		}
		for _, p := range c.Partitions {
			texts = append(texts, p.Key, p.Why)
		}
		for _, k := range c.Kinds {
			texts = append(texts, k.Key, k.Kind)
		}
		texts = append(append(texts, c.Texts...), c.Maps...)
	}
	if index := slices.IndexFunc(texts, func(s string) bool { return !utf8.ValidString(s) }); index >= 0 {
		return errNotUTF8(texts[index])
	}
	return nil
}

func errNotUTF8(text string) error {
	return fmt.Errorf("%q is no UTF-8, so that a plan cannot name it; rename it", text)
}

// digester computes the ID of a plan, file by file.
type digester struct{ sum hash.Hash }

func newDigester(h Header) (*digester, error) {
	h.ID = ""
	head, err := marshalLine(h)
	if err != nil {
		return nil, err
	}
	d := &digester{sha256.New()}
	d.sum.Write(append(head, '\n')) // a hash never fails
	return d, nil
}

func (d *digester) addFile(f File) error {
	line, err := marshalLine(f)
	if err == nil {
		d.sum.Write(append(line, '\n'))
	}
	return err
}

// shortHex returns the first 80 bits of the digest, short enough for people to compare.
func (d *digester) shortHex() string { return fmt.Sprintf("%x", d.sum.Sum(nil)[:10]) }

func encodeHeadLine(h Header) ([]byte, error) {
	line, err := marshalLine(h)
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line, []byte("}")), nil
}

// marshalLine returns v as JSON in one line. It does not escape < and &, so that paths and conditions stay readable.
func marshalLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
