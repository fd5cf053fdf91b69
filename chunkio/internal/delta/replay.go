package delta

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
)

// replay brings a state to the version of a segment.
func (t *table) replay(ctx context.Context, part segment, s *state) error {
	if part.base != nil {
		s.begin(part.base.version)
		if err := t.readCheckpoint(ctx, part.base, s); err != nil {
			return err
		}
	}
	reading, cancel := context.WithCancel(ctx)
	q := &queue{table: t, commits: part.commits, files: map[int]chan fetched{}}
	defer q.wait()
	defer cancel()
	for i, c := range part.commits {
		s.begin(c.version)
		r, release, err := q.open(reading, i)
		if err == nil {
			err = t.actions(ctx, r, c.file(), func(a *action) error { return t.apply(a, s) })
		}
		if release != nil {
			release()
		}
		if err != nil {
			return err
		}
	}
	s.begin(part.version + 1) // forget what the last one removed
	return nil
}

// apply takes an action of a commit, or of a JSON checkpoint, into the state.
func (t *table) apply(a *action, s *state) error {
	if f := a.Add; f != nil {
		if f.Path == nil || f.Size == nil {
			return errors.New("adds a file without its path or size")
		}
		values := make([]pair, 0, len(f.PartitionValues))
		for name, value := range f.PartitionValues {
			values = append(values, pair{name, value})
		}
		if err := s.add(t.name, *f.Path, f.DeletionVector.id(), *f.Size, rowsOf(f.Stats), values); err != nil {
			return err
		}
	}
	if f := a.Remove; f != nil {
		if f.Path == nil {
			return errors.New("removes a file without its path")
		}
		if err := s.remove(t.name, *f.Path, f.DeletionVector.id()); err != nil {
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

// rowsOf is numRecords of statistics as a commit has them, a JSON document in a JSON
// string; -1 where they do not tell. Statistics are optional, so damaged ones are none.
func rowsOf(stats json.RawMessage) int64 {
	var text string
	if len(stats) == 0 || json.Unmarshal(stats, &text) != nil {
		return -1
	}
	return rowsIn([]byte(text))
}

// rowsIn is numRecords of statistics; -1 where they do not tell. Spark's begin with it:
// finding it there saves parsing the smallest and largest values of all columns.
func rowsIn(stats []byte) int64 {
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
