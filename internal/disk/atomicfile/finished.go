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

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
)

// FinishedFile describes a complete file of a folder, or the beginning of a file up to a mark.
type FinishedFile struct {
	Place  string `json:"place"`  // path below the folder; for the beginning of a file, the number of its mark
	Recipe string `json:"recipe"` // identifies everything that determines the file's bytes
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Sum    uint64 `json:"sum"`              // xxhash of its bytes
	Detail []byte `json:"detail,omitempty"` // data of a mark for the run that continues

	Version string `json:"version,omitempty"` // version of an object, as its store reports it
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

// finishedList lists the complete files of a folder in a file, one per line. This file exists while the folder is
// built. A line is appended after its file is safe on disk, and begins with a checksum of the line. A line that was
// written only in part is ignored, and its file is made again.
type finishedList struct {
	file    *os.File
	byPlace map[string]FinishedFile // by FinishedFile.Place
}

func openFinishedList(folder *os.Root) (*finishedList, error) {
	file, err := ownfile.OpenOrCreate(folder, finishedName, 0o600)
	if err != nil {
		return nil, err
	}
	byPlace, torn, err := readFinishedList(file) // afterwards the position in file is its end, for appending
	if err == nil && torn {                      // end the incomplete last line
		_, err = file.WriteString("\n")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &finishedList{file, byPlace}, nil
}

func readFinishedList(r io.Reader) (byPlace map[string]FinishedFile, torn bool, err error) {
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

// parseFinished parses a line. ok is false if the line is damaged, or its place is outside the folder, which runs never
// write.
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
	if f.Detail = nil; err == nil { // without Detail, to save memory
		l.byPlace[f.Place] = f
	}
	return err
}
