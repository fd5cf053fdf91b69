package intake

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// A file whose name does not show a format is accepted as data only if its bytes prove the format. Text proves little,
// because other files in a folder of data are mostly text as well (README, LICENSE, checksums, settings). So only
// uniform lines are accepted: at least two lines, each a JSON object; or at least two rows with the same number of
// fields (two or more), and one column that contains numbers below its first row.

// RecognizeBytes is the number of bytes at the beginning of a file that Recognize needs. RecognizeMost is the same
// number for files with long rows.
const (
	RecognizeBytes = 16 << 10
	RecognizeMost  = 1 << 20
)

// Recognize returns the format of a text that begins with head. whole means that head is the whole text. The result
// more means that a longer head may permit a decision.
func Recognize(head []byte, whole bool) (f Format, more bool) {
	if f = SniffText(head); f == None {
		return None, false
	}
	lines := bytes.TrimPrefix(head, byteOrderMark)
	if !whole {
		lines = lines[:bytes.LastIndexByte(lines, '\n')+1]
	}
	var rows int
	var alike bool
	switch {
	case bytes.ContainsFunc(head, isControl):
		return None, false
	case f == NDJSON:
		rows, alike = countJSONObjects(lines)
	default:
		rows, alike = countRecords(lines, whole)
	}
	if alike && rows >= 2 {
		return f, false
	}
	return None, !whole && rows < 2
}

// UnpackHead decompresses the beginning of a file, and reports whether the result is the whole text. It returns up to
// RecognizeMost bytes.
func UnpackHead(head []byte, packing string, whole bool) (text []byte, wholeText bool) {
	if packing == "" {
		return head, whole
	}
	from, err := Unpack(bytes.NewReader(head), packing)
	if err != nil {
		return nil, false
	}
	defer from.Close()
	text, err = io.ReadAll(io.LimitReader(from, RecognizeMost))
	return text, whole && err == nil && len(text) < RecognizeMost
}

func isControl(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }

func countJSONObjects(lines []byte) (rows int, areAllObjects bool) {
	for line := range bytes.Lines(lines) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		rows++
		if line[0] != '{' || !jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true)) {
			return rows, false
		}
	}
	return rows, true
}

// countRecords counts the rows of CSV. It reports in alike whether all rows have as many fields as the first row and,
// moreover, more than half of the values of some column below the first row are numbers. If the head is cut off, the
// last row may be incomplete.
func countRecords(lines []byte, whole bool) (rows int, alike bool) {
	in := csv.NewReader(bytes.NewReader(lines))
	in.Comma, in.ReuseRecord = guessSeparator(lines), true
	var numbers, texts []int
	var nulls nullSpellings
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) || errors.Is(err, csv.ErrQuote) && !whole && in.InputOffset() == int64(len(lines)) {
			break
		}
		if err != nil || len(record) < 2 {
			return rows + 1, false
		}
		if rows++; rows == 1 {
			numbers, texts = make([]int, len(record)), make([]int, len(record))
			continue
		}
		for j, s := range record {
			if s = trimBlanks(s); nulls.isNull(s) {
				continue
			}
			if k := kindOfField(s); k.isWhole() || k == Float {
				numbers[j]++
			} else {
				texts[j]++
			}
		}
	}
	for j, n := range numbers {
		alike = alike || n > texts[j]
	}
	return rows, alike
}
