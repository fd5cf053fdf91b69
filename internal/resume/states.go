package resume

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/disk/journal"
	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
)

const (
	logName   = "journal" + Suffix
	logFormat = 1
)

// record is a record of the folder's log. The first record has only Format. Any other record without a State begins a
// part anew: its earlier states no longer count.
type record struct {
	Format int             `json:"format,omitempty"`
	Part   string          `json:"part,omitempty"`
	Digest string          `json:"digest,omitempty"` // of the Identity of the run that begins the part
	Run    json.RawMessage `json:"run,omitempty"`    // this Identity
	State  *savedState     `json:"state,omitempty"`
}

// savedState is a state of a part. It replaces the earlier state of the same name.
type savedState struct {
	Name     string            `json:"name"`
	Removed  bool              `json:"removed,omitempty"`
	Marks    map[string]string `json:"marks,omitempty"`
	Sections []sectionMark     `json:"sections,omitempty"` // in their order
	File     string            `json:"file,omitempty"`     // file in the folder with the sections; if empty, they are in the log
	Sum      uint64            `json:"sum,omitempty"`      // xxhash of this file
	Scratch  []fileMark        `json:"scratch,omitempty"`  // scratch files in the folder that belong to the state

	place journal.Body // of the sections in the log
}

type sectionMark struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

func (s *savedState) countBytes() (n int64) {
	for _, section := range s.Sections {
		n += section.Bytes
	}
	return n
}

func (s *savedState) fileNames() (names []string) {
	if s.File != "" {
		names = append(names, s.File)
	}
	for _, f := range s.Scratch {
		names = append(names, f.File)
	}
	return names
}

func (s *savedState) isConsistent(bytesInLog int64) bool {
	for _, section := range s.Sections {
		if section.Bytes < 0 || section.Bytes > 1<<62/int64(len(s.Sections)) {
			return false
		}
	}
	for _, f := range s.Scratch {
		if f.Bytes < 1 || f.Record < 1 || !strings.HasSuffix(f.File, dataSuffix) {
			return false
		}
	}
	for _, name := range s.fileNames() {
		if name != filepath.Base(name) || !isState(name) || name == logName {
			return false
		}
	}
	return s.File != "" || s.countBytes() == bytesInLog
}

// savedPart has the states of a part, and the digest and the JSON of the Identity of the run that saved them.
type savedPart struct {
	digest string
	run    json.RawMessage
	states map[string]*savedState
}

// openLog reads the log of the folder, and removes the files that it does not list, which killed runs have left. A
// log of another format counts as empty.
func (f *Folder) openLog() error {
	file, err := ownfile.Open(f.dir, logName, os.O_RDWR)
	isOther := errors.Is(err, fs.ErrNotExist) && len(f.listStateNames("")) > 0
	if err == nil {
		var isCut bool
		isFirst := true
		f.log, isCut, err = journal.OpenLog(file, func(r record, body journal.Body) (bool, error) {
			if isFirst {
				isFirst, isOther = false, r.Format != logFormat
				return !isOther, nil
			}
			return f.applyRecord(&r, body), nil
		})
		if err != nil {
			file.Close()
			return err
		}
		if isCut && !isOther {
			f.addRemark("the end of %s is damaged: its contents are computed again", filepath.Join(f.path, logName))
		}
		if isFirst { // the log begins anew with the next record
			f.closeLog()
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if isOther {
		f.addRemark("%s holds the checkpoint of another version of this program: it is removed, and this run begins anew", f.path)
		return f.removeStates()
	}
	return f.removeUnlistedFiles("")
}

func (f *Folder) removeUnlistedFiles(namePrefix string) error {
	listed := map[string]bool{logName: true}
	for _, part := range f.parts {
		for _, s := range part.states {
			for _, name := range s.fileNames() {
				listed[name] = true
			}
		}
	}
	for _, name := range f.listStateNames(namePrefix) {
		if listed[name] {
			continue
		}
		if err := f.removeFile(name); err != nil {
			return err
		}
	}
	return nil
}

// applyRecord changes the states of the folder by the record r. It returns false if no run writes such a record.
func (f *Folder) applyRecord(r *record, body journal.Body) bool {
	part := f.parts[r.Part]
	switch s := r.State; {
	case r.Part == "" || s != nil && (part == nil || s.Name == ""):
		return false
	case s == nil:
		f.parts[r.Part] = &savedPart{r.Digest, r.Run, make(map[string]*savedState)}
	case s.Removed:
		delete(part.states, s.Name)
	case !s.isConsistent(body.Bytes):
		return false
	default:
		s.place = body
		part.states[s.Name] = s
	}
	return true
}

// appendRecord appends a record to the log and applies it. Its body, which may be nil, has the given size in bytes.
func (f *Folder) appendRecord(r record, size int64, body io.WriterTo) (err error) {
	if f.log == nil {
		file, err := ownfile.CreateNew(f.dir, logName, 0o600)
		if err != nil {
			return err
		}
		l := journal.NewLog[record](file)
		if err := l.AppendRecord(record{Format: logFormat}); err != nil {
			file.Close()
			return err
		}
		f.log = l
	}
	var place journal.Body
	if body == nil {
		err = f.log.AppendRecord(r)
	} else {
		place, err = f.log.AppendRecordWithBody(r, size, body)
	}
	if err != nil {
		return err
	}
	f.applyRecord(&r, place)
	return nil
}

func (f *Folder) closeLog() {
	f.log.Close()
	f.log, f.parts = nil, make(map[string]*savedPart)
}
