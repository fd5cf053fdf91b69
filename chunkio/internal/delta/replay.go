package delta

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
)

func replaySegment(ctx context.Context, t *table, toReplay segment, s *replayState) error {
	if toReplay.base != nil {
		s.beginVersion(toReplay.base.version)
		if err := readCheckpoint(ctx, t, toReplay.base, s); err != nil {
			return err
		}
	}
	reading, cancel := context.WithCancel(ctx)
	q := &commitQueue{table: t, waiting: toReplay.commits, files: map[int]chan fetchedFile{}}
	defer q.running.Wait()
	defer cancel()
	for i, c := range toReplay.commits {
		s.beginVersion(c.version)
		r, release, err := q.openCommit(reading, i)
		if err == nil {
			err = t.parseActions(ctx, r, c.logFile(), func(a *action) error { return applyActionToState(t, a, s) })
		}
		if release != nil {
			release()
		}
		if err != nil {
			return err
		}
	}
	s.beginVersion(toReplay.version + 1) // drop the record of files that the last version removed
	return nil
}

func applyActionToState(t *table, a *action, s *replayState) error {
	for _, f := range []*fileAction{a.Add, a.Remove} {
		if f != nil {
			s.changesRows = f.DataChange == nil || *f.DataChange
		}
	}
	if f := a.Add; f != nil {
		if f.Path == nil || f.Size == nil {
			return errors.New("adds a file without its path or size")
		}
		values := make([]partitionValue, 0, len(f.PartitionValues))
		for name, value := range f.PartitionValues {
			values = append(values, partitionValue{name, value})
		}
		if err := s.addFile(t.name, *f.Path, f.DeletionVector, *f.Size, statsRowCount(f.Stats), values); err != nil {
			return err
		}
	}
	if f := a.Remove; f != nil {
		if f.Path == nil {
			return errors.New("removes a file without its path")
		}
		if err := s.removeFile(t.name, *f.Path, f.DeletionVector.uniqueID()); err != nil {
			return err
		}
	}
	if a.MetaData != nil {
		s.meta = a.MetaData
	}
	if a.Protocol != nil {
		s.protocol = a.Protocol
	}
	return nil
}

// statsRowCount returns numRecords from the statistics of an add action in a commit, which are a JSON document in a
// JSON string. It returns -1 if the number is unknown. Statistics are optional, so damaged statistics are treated as
// absent.
func statsRowCount(stats json.RawMessage) int64 {
	var text string
	if len(stats) == 0 || json.Unmarshal(stats, &text) != nil {
		return -1
	}
	return parseRowCount([]byte(text))
}

// parseRowCount returns numRecords from statistics, or -1 if the number is unknown. Spark writes numRecords first. If
// it is there, the smallest and largest values of all columns need not be parsed.
func parseRowCount(stats []byte) int64 {
	if rest, ok := bytes.CutPrefix(stats, []byte(`{"numRecords":`)); ok {
		rows, n := int64(0), 0
		for n < len(rest) && n < 18 && '0' <= rest[n] && rest[n] <= '9' {
			rows = 10*rows + int64(rest[n]-'0')
			n++
		}
		if n > 0 && n < len(rest) && (rest[n] == ',' || rest[n] == '}') {
			return rows
		}
	}
	var s struct{ NumRecords *int64 }
	if json.Unmarshal(stats, &s) != nil || s.NumRecords == nil {
		return -1
	}
	return max(-1, *s.NumRecords)
}
