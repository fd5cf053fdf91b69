// Package journal appends records to a log file, for runs that continue after an interruption or a kill.
//
// A record is a line: its checksum, a space, and the record as JSON. A record with a body has "+N " before the JSON;
// the N bytes of the body, their checksum and a line break follow. Checksums are the xxhash64 in 16 hexadecimal digits;
// that of a line is of all that follows the first space.
//
// A record survives a kill of the process once it is appended, and reaches the disk with the next [Log.SyncToDisk]. A
// log is read up to the first record that is cut off or does not match its checksums. That record and all later ones do
// not count, because later records may depend on earlier ones.
package journal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Log is an open log of records of type R. It is not safe for concurrent use.
type Log[R any] struct {
	file   *os.File
	end    int64 // offset after the last record
	synced int64 // offset up to which everything is on the disk
}

// Body is the place of a record's body in its file. It is zero if the record has no body.
type Body struct{ At, Bytes int64 }

// OpenLog reads the records of file in order and passes each of them to accept. If accept returns false, the record
// counts as damaged. If accept returns an error, OpenLog returns it and leaves the file as it is. Otherwise it cuts off
// the damaged end of the file; isCut reports whether there was one. On error the caller still has to close the file.
func OpenLog[R any](file *os.File, accept func(R, Body) (bool, error)) (l *Log[R], isCut bool, err error) {
	end, err := ReadRecords(file, accept)
	if err != nil {
		return nil, false, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, false, err
	}
	if isCut = info.Size() > end; isCut {
		err = file.Truncate(end)
	}
	return &Log[R]{file: file, end: end, synced: end}, isCut, err
}

// NewLog returns the log in a file that is empty.
func NewLog[R any](file *os.File) *Log[R] { return &Log[R]{file: file} }

// ReadRecords passes the records of a log to accept, like OpenLog. It returns the offset after the last sound record.
func ReadRecords[R any](r io.Reader, accept func(R, Body) (bool, error)) (end int64, err error) {
	from := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := from.ReadBytes('\n')
		record, size, ok := parseRecordLine[R](line)
		next, body := end+int64(len(line)), Body{}
		if ok && err == nil && size >= 0 {
			body = Body{next, size}
			next += size + bodyTail
			ok, err = bodyMatchesChecksum(from, size)
		}
		switch {
		case errors.Is(err, io.EOF) || err == nil && !ok:
			return end, nil
		case err != nil:
			return end, err
		}
		if ok, err := accept(record, body); !ok || err != nil {
			return end, err
		}
		end = next
	}
}

const (
	sumDigits = 16            // hexadecimal digits of a checksum
	bodyTail  = sumDigits + 1 // length of a checksum and a line break
)

func parseRecordLine[R any](line []byte) (record R, size int64, ok bool) {
	sum, text, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if string(sum) != formatChecksum(xxhash.Sum64(text)) {
		return record, 0, false
	}
	size = -1 // no body
	if count, rest, hasBody := bytes.Cut(text, []byte(" ")); hasBody && text[0] == '+' {
		n, err := strconv.ParseInt(string(count[1:]), 10, 64)
		if err != nil || n < 0 {
			return record, 0, false
		}
		text, size = rest, n
	}
	return record, size, json.Unmarshal(text, &record) == nil
}

func formatChecksum(sum uint64) string { return fmt.Sprintf("%0*x", sumDigits, sum) }

func bodyMatchesChecksum(body io.Reader, size int64) (ok bool, err error) {
	sum, tail := xxhash.New(), make([]byte, bodyTail)
	if _, err := io.CopyN(sum, body, size); err != nil {
		return false, err
	}
	if _, err := io.ReadFull(body, tail); errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return string(tail) == formatChecksum(sum.Sum64())+"\n", nil
}

// AppendLine appends a record without a body to text.
func AppendLine(text []byte, record any) ([]byte, error) { return appendSized(text, record, "") }

func appendSized(text []byte, record any, bodySize string) ([]byte, error) {
	line, err := json.Marshal(record)
	return append(text, prefixWithChecksum(bodySize+string(line))...), err
}

func prefixWithChecksum(text string) string {
	return formatChecksum(xxhash.Sum64String(text)) + " " + text + "\n"
}

// AppendRecord writes a record without a body after the last one. On error the log is unchanged.
func (l *Log[R]) AppendRecord(record R) error {
	_, err := l.appendRecord(record, 0, nil)
	return err
}

// AppendRecordWithBody writes a record with a body of the given size in bytes after the last one. On error the log is
// unchanged.
func (l *Log[R]) AppendRecordWithBody(record R, size int64, body io.WriterTo) (Body, error) {
	return l.appendRecord(record, size, body)
}

func (l *Log[R]) appendRecord(record R, size int64, body io.WriterTo) (place Body, err error) {
	defer func() {
		if err != nil {
			_ = l.file.Truncate(l.end) // if this fails, readers recognize the incomplete record by its checksum
		}
	}()
	count := ""
	if body != nil {
		count = fmt.Sprintf("+%d ", size)
	}
	line, err := appendSized(nil, record, count)
	if err != nil {
		return place, err
	}
	to := bufio.NewWriterSize(io.NewOffsetWriter(l.file, l.end), 1<<16)
	if _, err := to.Write(line); err != nil {
		return place, err
	}
	end := l.end + int64(len(line))
	if body != nil {
		place = Body{end, size}
		end += size + bodyTail
		if err := writeBody(to, size, body); err != nil {
			return place, err
		}
	}
	if err := to.Flush(); err != nil {
		return place, err
	}
	l.end = end
	return place, nil
}

func writeBody(to io.Writer, size int64, body io.WriterTo) error {
	sum := xxhash.New()
	written, err := body.WriteTo(io.MultiWriter(to, sum))
	if err != nil {
		return err
	}
	if written != size {
		return fmt.Errorf("journal: a body of %d bytes has %d", size, written)
	}
	_, err = fmt.Fprintf(to, "%s\n", formatChecksum(sum.Sum64()))
	return err
}

// OpenBytes returns a reader of n bytes of the file from offset `at`, for example of a body.
func (l *Log[R]) OpenBytes(at, n int64) *io.SectionReader { return io.NewSectionReader(l.file, at, n) }

// SyncToDisk writes the log to the disk. It does nothing for a nil Log, and if nothing was appended since it was called
// last.
func (l *Log[R]) SyncToDisk() error {
	if l == nil || l.synced == l.end {
		return nil
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.synced = l.end
	return nil
}

// Close closes the file. It does nothing for a nil Log.
func (l *Log[R]) Close() {
	if l != nil {
		l.file.Close() // everything is written
	}
}

// HasSum reports whether r has the given number of bytes with this xxhash64. It returns an error of reading, and that
// of ctx if ctx ends.
func HasSum(ctx context.Context, r io.Reader, size int64, want uint64) (bool, error) {
	sum, part := xxhash.New(), make([]byte, 1<<20)
	for read := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := r.Read(part)
		sum.Write(part[:n])
		if read += int64(n); errors.Is(err, io.EOF) || read > size {
			return read == size && sum.Sum64() == want, nil
		}
		if err != nil {
			return false, err
		}
	}
}
