package delta

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Table properties about in-commit timestamps, i.e. commit times that are stored in the commits themselves.
const (
	inCommitKey     = "delta.enableInCommitTimestamps"
	inCommitVersion = "delta.inCommitTimestampEnablementVersion"
	inCommitTime    = "delta.inCommitTimestampEnablementTimestamp"
)

// inCommitStart returns the first version whose commit contains its time, and this time. ok is false if commits do not
// contain times.
func (m *metaData) inCommitStart() (version int64, at time.Time, ok bool) {
	if enabled, err := strconv.ParseBool(m.Configuration[inCommitKey]); err != nil || !enabled {
		return 0, at, false
	}
	v, err := strconv.ParseInt(m.Configuration[inCommitVersion], 10, 64)
	ms, err2 := strconv.ParseInt(m.Configuration[inCommitTime], 10, 64)
	if err != nil || err2 != nil {
		return 0, at, true // the commits of all versions contain their times
	}
	return v, time.UnixMilli(ms), true
}

// fileTimes returns the commits before version `to` with the modification times of their files. A time that is not
// later than the previous one is replaced by the previous time plus one millisecond. Spark does the same. This corrects
// clocks that were set back, and the equal times of copied files.
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

// findVersionTime returns the commit time of a version. If the commit's file was cleaned up, it returns the time of the
// version's checkpoint.
func (t *table) findVersionTime(ctx context.Context, version int64, m *metaData) (time.Time, error) {
	c, ok := t.findCommit(version)
	if !ok {
		return t.baseCheckpoint(version).modified, nil
	}
	if from, _, enabled := m.inCommitStart(); enabled && version >= from {
		return t.readInCommitTime(ctx, c)
	}
	times := t.fileTimes(version + 1)
	return times[len(times)-1].modified, nil
}

func (t *table) findVersionAsOf(ctx context.Context, at time.Time) (int64, error) {
	// The table's newest metadata determines whether commits contain their time.
	part, err := t.segmentOfVersion(t.newest)
	if err != nil {
		return 0, err
	}
	s := newReplayState(&t.budget, false)
	if err := replaySegment(ctx, t, part, s); err != nil {
		return 0, err
	}
	if err := checkProtocolIsSupported(t, s); err != nil {
		return 0, err
	}
	from, since, enabled := s.meta.inCommitStart()
	if enabled && !at.Before(since) {
		return t.findInCommitVersion(ctx, at, from)
	}
	to := t.newest + 1
	if enabled {
		to = from
	}
	times := t.fileTimes(to)
	n := 0
	for n < len(times) && !times[n].modified.After(at) {
		n++
	}
	switch {
	case len(times) == 0:
		return 0, t.errNoCommitTimes()
	case n == 0:
		return 0, t.errBeforeFirstVersion(at, times[0].version, times[0].modified)
	}
	return times[n-1].version, nil
}

// findInCommitVersion returns the newest version that existed at the time `at`, among the commits from version `from`
// on, which contain their times. The protocol requires that these times increase, so a binary search is possible.
func (t *table) findInCommitVersion(ctx context.Context, at time.Time, from int64) (int64, error) {
	var commits []commit
	for _, c := range t.commits {
		if c.version >= max(from, t.oldest) {
			commits = append(commits, c)
		}
	}
	if len(commits) == 0 {
		return 0, t.errNoCommitTimes()
	}
	first, err := t.readInCommitTime(ctx, commits[0])
	if err != nil {
		return 0, err
	}
	if first.After(at) {
		return 0, t.errBeforeFirstVersion(at, commits[0].version, first)
	}
	lo, hi := 0, len(commits) // commits[lo] is at or before the time `at`, commits[hi] is after it
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		then, err := t.readInCommitTime(ctx, commits[mid])
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

func (t *table) errBeforeFirstVersion(at time.Time, version int64, first time.Time) error {
	const layout = "2006-01-02T15:04:05.000Z"
	return stream.Usagef("%s has no version as old as %s: the earliest there is, version %d, is of %s; set {as-of} to that or later",
		t.name, at.UTC().Format(layout), version, first.UTC().Format(layout))
}

func (t *table) errNoCommitTimes() error {
	return stream.Usagef("%s has no commits that record their times, only checkpoints; set {version} (%d to %d) in place of {as-of}", t.name, t.oldest, t.newest)
}

var errStopReading = errors.New("found")

func (t *table) readInCommitTime(ctx context.Context, c commit) (at time.Time, err error) {
	r, release, err := t.openFile(ctx, c.logFile())
	if release != nil {
		defer release()
	}
	if err != nil {
		return at, err
	}
	err = t.scanLines(r, c.logFile(), func(line []byte) error {
		var a struct {
			CommitInfo struct{ InCommitTimestamp *int64 }
		}
		if err := json.Unmarshal(line, &a); err != nil {
			return t.errDamagedFile(c.logFile().name, "line 1 is no commitInfo: %w", stream.PlainJSON(err))
		}
		if a.CommitInfo.InCommitTimestamp == nil {
			return t.errDamagedFile(c.logFile().name, "line 1 has no commitInfo with an inCommitTimestamp, which the table's %s promises", inCommitKey)
		}
		at = time.UnixMilli(*a.CommitInfo.InCommitTimestamp)
		return errStopReading
	})
	if errors.Is(err, errStopReading) {
		err = nil
	}
	return at, err
}
