package atomicfile

import (
	"context"
	"os"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/journal"
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
	same, err := journal.HasSum(ctx, in, f.Bytes, f.Sum)
	return same && err == nil
}

// finishedList is the log of the complete files of an output folder or, if the output is one file, of its marks: the
// lengths up to which the file is complete. It exists while the output is made. A record is appended after its file is safe on disk. A file without a record is made again.
type finishedList struct {
	log     *journal.Log[FinishedFile]
	byPlace map[string]FinishedFile // by FinishedFile.Place, without Detail to save memory
}

// openFinishedList opens the list of a folder. It keeps the records up to the first one that accept refuses. If accept
// returns an error, the returned list has no log, and the records so far.
func openFinishedList(folder *os.Root, accept func(FinishedFile) (bool, error)) (*finishedList, error) {
	file, err := ownfile.OpenOrCreate(folder, finishedName, 0o600)
	if err != nil {
		return nil, err
	}
	l := &finishedList{byPlace: map[string]FinishedFile{}}
	l.log, _, err = journal.OpenLog(file, func(f FinishedFile, _ journal.Body) (bool, error) {
		ok, err := accept(f)
		if ok || err != nil {
			l.keepRecord(f)
		}
		return ok, err
	})
	if err != nil {
		file.Close()
	}
	return l, err
}

func (l *finishedList) keepRecord(f FinishedFile) {
	f.Detail = nil
	l.byPlace[f.Place] = f
}

func isInFolder(f FinishedFile) (bool, error) { return place.CheckName(f.Place) == nil, nil }

func (l *finishedList) appendRecord(f FinishedFile) error {
	err := l.log.AppendRecord(f)
	if err == nil {
		l.keepRecord(f)
	}
	return err
}
