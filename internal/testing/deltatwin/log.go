package deltatwin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// snapshot is the state of a table after all actions of its log.
type snapshot struct {
	version  int64
	meta     *metaAction
	protocol *protocolAction
	files    map[string]addAction // by path and unique id of the deletion vector
}

type logLine struct {
	Add      *addAction
	Remove   *addAction
	MetaData *metaAction
	Protocol *protocolAction
	Sidecar  *struct{ Path string }
}

type addAction struct {
	Path            string
	PartitionValues map[string]*string
	DeletionVector  *vectorDescriptor
}

type metaAction struct {
	SchemaString     string
	PartitionColumns []string
	Configuration    map[string]string
}

type protocolAction struct {
	MinReaderVersion int
	ReaderFeatures   []string
}

func (a *addAction) key() string {
	path, err := locateFile("", a.Path)
	if err != nil {
		path = a.Path
	}
	d := a.DeletionVector
	switch {
	case d == nil:
		return path
	case d.Offset == nil:
		return path + "\x00" + d.StorageType + d.PathOrInlineDv
	}
	return fmt.Sprintf("%s\x00%s%s@%d", path, d.StorageType, d.PathOrInlineDv, *d.Offset)
}

func (s *snapshot) applyLine(l logLine) {
	if l.Remove != nil {
		delete(s.files, l.Remove.key())
	}
	if l.Add != nil {
		s.files[l.Add.key()] = *l.Add
	}
	if l.MetaData != nil {
		s.meta = l.MetaData
	}
	if l.Protocol != nil {
		s.protocol = l.Protocol
	}
}

var (
	commitName     = regexp.MustCompile(`^(\d{20})\.json$`)
	checkpointName = regexp.MustCompile(`^(\d{20})\.checkpoint\.(?:(\d{10})\.(\d{10})\.)?(?:([^.]+)\.)?(parquet|json)$`)
)

// replayLog applies the newest complete checkpoint, and the commits after it. If all commits since the first are there,
// it also applies these alone, and demands the same files.
func replayLog(dir string) (*snapshot, error) {
	logDir := filepath.Join(dir, "_delta_log")
	entries, err := os.ReadDir(logDir)
	if err != nil {
		return nil, err
	}
	commits, parts := map[int64]string{}, map[int64][]string{}
	newest, last := int64(-1), int64(-1) // the versions of the newest checkpoint and commit
	for _, e := range entries {
		if m := commitName.FindStringSubmatch(e.Name()); m != nil {
			v, _ := strconv.ParseInt(m[1], 10, 64)
			commits[v], last = e.Name(), max(last, v)
		}
		if m := checkpointName.FindStringSubmatch(e.Name()); m != nil {
			v, _ := strconv.ParseInt(m[1], 10, 64)
			count, _ := strconv.Atoi(m[3])
			if count == 0 {
				parts[v] = []string{e.Name()} // whole by itself, and sorted before and after the parts of another
				newest = max(newest, v)
			} else if parts[v] = append(parts[v], e.Name()); len(parts[v]) == count {
				newest = max(newest, v)
			}
		}
	}
	s := &snapshot{version: max(newest, last), files: map[string]addAction{}}
	for _, name := range parts[newest] {
		if err := s.applyCheckpoint(logDir, name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := s.applyCommits(logDir, commits, newest+1); err != nil {
		return nil, err
	}
	if _, whole := commits[0]; whole && newest >= 0 {
		whole := &snapshot{version: s.version, files: map[string]addAction{}}
		if err := whole.applyCommits(logDir, commits, 0); err == nil && !slices.Equal(s.listFiles(), whole.listFiles()) {
			return nil, fmt.Errorf("the checkpoint and the commits differ: %q and %q", s.listFiles(), whole.listFiles())
		}
	}
	if s.meta == nil || s.protocol == nil {
		return nil, errors.New("the log has no metadata or no protocol")
	}
	return s, nil
}

func (s *snapshot) listFiles() (texts []string) {
	for key, file := range s.files {
		values, _ := json.Marshal(file.PartitionValues)
		texts = append(texts, key+" "+string(values))
	}
	slices.Sort(texts)
	return texts
}

func (s *snapshot) applyCommits(logDir string, commits map[int64]string, from int64) error {
	for v := from; v <= s.version; v++ {
		name, ok := commits[v]
		if !ok {
			return fmt.Errorf("commit %d is missing", v)
		}
		lines, err := readLines(filepath.Join(logDir, name))
		if err != nil {
			return err
		}
		for _, remove := range []bool{true, false} { // the order of actions in a commit has no meaning
			for _, l := range lines {
				if (l.Remove != nil) == remove {
					s.applyLine(l)
				}
			}
		}
	}
	return nil
}

func readLines(path string) (lines []logLine, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	scanner := bufio.NewScanner(bytes.NewReader(text))
	scanner.Buffer(nil, len(text)+1)
	for scanner.Scan() {
		var l logLine
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		lines = append(lines, l)
	}
	return lines, scanner.Err()
}

func (s *snapshot) applyCheckpoint(logDir, name string) error {
	path := filepath.Join(logDir, name)
	var lines []logLine
	var err error
	if filepath.Ext(name) == ".json" {
		lines, err = readLines(path)
	} else {
		lines, err = readCheckpointRows(path)
	}
	if err != nil {
		return err
	}
	for _, l := range lines {
		l.Remove = nil // a checkpoint adds no file that was removed
		s.applyLine(l)
		if l.Sidecar != nil {
			if err := s.applyCheckpoint(logDir, filepath.Join("_sidecars", filepath.Base(l.Sidecar.Path))); err != nil {
				return err
			}
		}
	}
	return nil
}

func readCheckpointRows(path string) (lines []logLine, err error) {
	f, err := openParquet(path)
	if err != nil {
		return nil, err
	}
	rows, err := f.plainRows([]string{"add", "metaData", "protocol", "sidecar"})
	if err != nil {
		return nil, err
	}
	for _, document := range rows {
		text, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		var l logLine
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}
