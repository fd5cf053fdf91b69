package delta

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

// The table properties of in-commit timestamps.
const (
	inCommitKey     = "delta.enableInCommitTimestamps"
	inCommitVersion = "delta.inCommitTimestampEnablementVersion"
	inCommitTime    = "delta.inCommitTimestampEnablementTimestamp"
)

// inCommit says from which version on commits tell their time themselves, and that
// version's time; ok is false where they do not.
func (m *metaData) inCommit() (version int64, at time.Time, ok bool) {
	if on, err := strconv.ParseBool(m.Configuration[inCommitKey]); err != nil || !on {
		return 0, at, false
	}
	v, err := strconv.ParseInt(m.Configuration[inCommitVersion], 10, 64)
	ms, err2 := strconv.ParseInt(m.Configuration[inCommitTime], 10, 64)
	if err != nil || err2 != nil {
		return 0, at, true // from the first version on
	}
	return v, time.UnixMilli(ms), true
}

// fileTimes are the times of the commits up to before version `to` by their files: each at least a millisecond after the one before, as Spark mends clocks that go
// back and copies that have one time.
func (t *table) fileTimes(to int64) (commits []commit) {
	for _, c := range t.commits {
		if c.version < t.oldest || c.version >= to {
			continue
		}
		if n := len(commits); n > 0 && !c.modified.After(commits[n-1].modified) {
			c.modified = commits[n-1].modified.Add(time.Millisecond)
		}
		commits = append(commits, c)
	}
	return commits
}

// timeOf is when a version was committed. Where its commit was cleaned up behind a
// checkpoint, the time of the checkpoint stands in.
func (t *table) timeOf(ctx context.Context, version int64, m *metaData) (time.Time, error) {
	c, ok := t.commitOf(version)
	if !ok {
		return t.baseOf(version).modified, nil
	}
	if from, _, on := m.inCommit(); on && version >= from {
		return t.inCommitTimeOf(ctx, c)
	}
	times := t.fileTimes(version + 1)
	return times[len(times)-1].modified, nil
}

// asOf finds the newest version that was there at a time.
func (t *table) asOf(ctx context.Context, at time.Time) (int64, error) {
	// Whether commits tell their time themselves, the table's newest metadata says.
	part, err := t.segment(t.newest)
	if err != nil {
		return 0, err
	}
	s := newState(&t.budget, false)
	if err := t.replay(ctx, part, s); err != nil {
		return 0, err
	}
	if err := t.supported(s); err != nil {
		return 0, err
	}
	from, since, on := s.meta.inCommit()
	if on && !at.Before(since) {
		return t.asOfInCommit(ctx, at, from)
	}
	to := t.newest + 1
	if on {
		to = from
	}
	times := t.fileTimes(to)
	n := 0
	for n < len(times) && !times[n].modified.After(at) {
		n++
	}
	switch {
	case len(times) == 0:
		return 0, t.untimed()
	case n == 0:
		return 0, t.tooEarly(at, times[0].version, times[0].modified)
	}
	return times[n-1].version, nil
}

// asOfInCommit is asOf among the commits that tell their time themselves, from one
// version on. The protocol has them rise, so that a few of them need to be read.
func (t *table) asOfInCommit(ctx context.Context, at time.Time, from int64) (int64, error) {
	var commits []commit
	for _, c := range t.commits {
		if c.version >= max(from, t.oldest) {
			commits = append(commits, c)
		}
	}
	if len(commits) == 0 {
		return 0, t.untimed()
	}
	first, err := t.inCommitTimeOf(ctx, commits[0])
	if err != nil {
		return 0, err
	}
	if first.After(at) {
		return 0, t.tooEarly(at, commits[0].version, first)
	}
	lo, hi := 0, len(commits) // commits[lo] is not after, commits[hi] is
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		then, err := t.inCommitTimeOf(ctx, commits[mid])
		if err != nil {
			return 0, err
		}
		if then.After(at) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return commits[lo].version, nil
}

func (t *table) tooEarly(at time.Time, version int64, first time.Time) error {
	const layout = "2006-01-02T15:04:05.000Z"
	return stream.Usagef("%s has no version as old as %s: the earliest there is, version %d, is of %s; set {as-of} to that or later",
		t.name, at.UTC().Format(layout), version, first.UTC().Format(layout))
}

func (t *table) untimed() error {
	return stream.Usagef("%s has no commits that tell their times, only checkpoints; set {version} (%d to %d) in place of {as-of}", t.name, t.oldest, t.newest)
}

var errFound = errors.New("found")

// inCommitTimeOf reads the time that a commit tells, in its first action.
func (t *table) inCommitTimeOf(ctx context.Context, c commit) (at time.Time, err error) {
	r, release, err := t.open(ctx, c.file())
	if release != nil {
		defer release()
	}
	if err != nil {
		return at, err
	}
	err = t.scan(r, c.file(), func(line []byte) error {
		var a struct {
			CommitInfo struct{ InCommitTimestamp *int64 }
		}
		if err := json.Unmarshal(line, &a); err != nil {
			return t.damaged(c.file().name, "line 1 is no commitInfo: %w", stream.PlainJSON(err))
		}
		if a.CommitInfo.InCommitTimestamp == nil {
			return t.damaged(c.file().name, "line 1 has no commitInfo with an inCommitTimestamp, which the table's %s promises", inCommitKey)
		}
		at = time.UnixMilli(*a.CommitInfo.InCommitTimestamp)
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return at, err
}
