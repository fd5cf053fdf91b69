package atomicfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"
)

// Finished tells of a file of a folder that is whole, or of the beginning of a file.
type Finished struct {
	Place  string `json:"place"`  // below the folder; of a beginning its number
	Recipe string `json:"recipe"` // names all that shapes its bytes
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Sum    uint64 `json:"sum"`              // xxhash of its bytes
	Detail []byte `json:"detail,omitempty"` // of a beginning, for whoever goes on
}

// same reports whether the file at path has the bytes that f tells of. What cannot be read has not.
func (f Finished) same(ctx context.Context, path string) bool {
	in, err := os.Open(path)
	if err != nil {
		return false
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() != f.Bytes {
		return false
	}
	sum, part := xxhash.New(), make([]byte, 1<<20)
	for ctx.Err() == nil {
		n, err := in.Read(part)
		sum.Write(part[:n])
		if err != nil {
			return errors.Is(err, io.EOF) && sum.Sum64() == f.Sum
		}
	}
	return false
}

// finishedList lists the files of a folder that are whole, a line each, in a file of the folder
// that is there while the folder is built. A line is appended after its file is safe on disk, and
// begins with a checksum of itself: one that a dying run or its disk has torn is no line, and its
// file is made again.
type finishedList struct {
	file *os.File
	of   map[string]Finished // by their places
}

func openFinished(path string) (*finishedList, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	l := &finishedList{file, map[string]Finished{}}
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if f, ok := readFinished(line); ok {
			l.of[f.Place] = f
		}
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			if err = nil; len(line) > 0 { // torn: the next line must not be behind it
				_, err = file.WriteString("\n")
			}
		}
		if err != nil {
			file.Close()
			return nil, err
		}
		return l, nil
	}
}

func readFinished(line []byte) (f Finished, ok bool) {
	sum, text, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if string(sum) != fmt.Sprintf("%016x", xxhash.Sum64(text)) {
		return f, false
	}
	return f, json.Unmarshal(text, &f) == nil
}

func (l *finishedList) add(f Finished) error {
	text, err := json.Marshal(f)
	if err == nil {
		_, err = fmt.Fprintf(l.file, "%016x %s\n", xxhash.Sum64(text), text)
	}
	if f.Detail = nil; err == nil { // it may be long
		l.of[f.Place] = f
	}
	return err
}
