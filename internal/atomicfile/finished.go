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

	"github.com/ufs-stream/ufs-stream/internal/ownfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
)

// FinishedFile describes a file of a folder that is whole, or the beginning of a file up to a mark.
type FinishedFile struct {
	Place  string `json:"place"`  // path below the folder; of a beginning its number
	Recipe string `json:"recipe"` // names everything that shapes its bytes
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Sum    uint64 `json:"sum"`              // xxhash of its bytes
	Detail []byte `json:"detail,omitempty"` // of a beginning, for the run that continues

	Version string `json:"version,omitempty"` // of an object, from its store
}

func (f FinishedFile) matchesFile(ctx context.Context, folder *os.Root, rel string) bool {
	in, err := ownfile.Open(folder, rel, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || info.Size() != f.Bytes {
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

// finishedList lists the whole files of a folder, one a line, in a file that exists while the folder is built.
// A line is appended after its file is safe on disk, and begins with a checksum of itself: a line torn by a
// dying run or its disk is ignored, and its file is made again.
type finishedList struct {
	file    *os.File
	byPlace map[string]FinishedFile // by FinishedFile.Place
}

func openFinished(folder *os.Root) (*finishedList, error) {
	file, err := ownfile.OpenOrCreate(folder, finishedName, 0o600)
	if err != nil {
		return nil, err
	}
	byPlace, torn, err := readFinished(file) // leaves the file at its end, to append lines
	if err == nil && torn {                  // the next line must not follow it
		_, err = file.WriteString("\n")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &finishedList{file, byPlace}, nil
}

func readFinished(r io.Reader) (byPlace map[string]FinishedFile, torn bool, err error) {
	byPlace = map[string]FinishedFile{}
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		if f, ok := parseFinished(line); ok {
			byPlace[f.Place] = f
		}
		switch {
		case errors.Is(err, io.EOF):
			return byPlace, len(line) > 0, nil
		case err != nil:
			return nil, false, err
		}
	}
}

// parseFinished parses a line. ok is false for a place outside the folder, which runs never write.
func parseFinished(line []byte) (f FinishedFile, ok bool) {
	sum, text, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if string(sum) != fmt.Sprintf("%016x", xxhash.Sum64(text)) {
		return f, false
	}
	return f, json.Unmarshal(text, &f) == nil && place.CheckName(f.Place) == nil
}

func (f FinishedFile) encodeLine() ([]byte, error) {
	text, err := json.Marshal(f)
	return fmt.Appendf(nil, "%016x %s\n", xxhash.Sum64(text), text), err
}

func (l *finishedList) appendLine(f FinishedFile) error {
	line, err := f.encodeLine()
	if err == nil {
		_, err = l.file.Write(line)
	}
	if f.Detail = nil; err == nil { // it may be long
		l.byPlace[f.Place] = f
	}
	return err
}
