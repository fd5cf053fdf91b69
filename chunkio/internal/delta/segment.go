package delta

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

// checkpoint is a complete checkpoint, which consists of one file or of several parts.
type checkpoint struct {
	version  int64
	kind     int
	parts    []logFile
	modified time.Time
}

// compareCheckpoints orders checkpoints by version. Checkpoints of the same version have the same contents. Of these,
// the preferred one is last.
func compareCheckpoints(a, b checkpoint) int {
	return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.kind, b.kind), strings.Compare(a.parts[0].name, b.parts[0].name))
}

// segment is the part of the log from which one version is built: a checkpoint (nil for the empty table before version
// 0) and the commits after it.
type segment struct {
	version int64
	base    *checkpoint
	commits []commit
}

func (t *table) segmentOfVersion(version int64) (segment, error) {
	return t.segmentFrom(t.baseCheckpoint(version), version)
}

func (t *table) segmentFrom(base *checkpoint, version int64) (segment, error) {
	s := segment{version: version}
	from := int64(0)
	if base != nil {
		s.base, from = base, base.version+1
	}
	lo, _ := slices.BinarySearchFunc(t.commits, from, compareCommitVersion)
	hi, _ := slices.BinarySearchFunc(t.commits, version+1, compareCommitVersion)
	s.commits = t.commits[lo:max(lo, hi)]
	for i := range version + 1 - from {
		if i < int64(len(s.commits)) && s.commits[i].version == from+i {
			continue
		}
		e := stream.Dataf(t.pathForMessages(commitFileName(from+i)), "is missing, and version %d cannot be determined without it", version)
		e.Remedy = stream.Textf("restore the file from a copy, or set {version} to %s", t.suggestVersions(from, from+i))
		return segment{}, e
	}
	return s, nil
}

func (t *table) segmentSince(since, version int64) (segment, error) {
	if since < 0 || since > version {
		return segment{}, stream.Usagef("{since} %d: want a version of %s up to version %d, which is read", since, t.name, version)
	}
	s, err := t.segmentFrom(t.baseCheckpoint(since), version)
	if err == nil {
		return s, nil
	}
	first := version + 1 // the first version from which on all commits are there
	for first > 0 {
		if _, ok := t.findCommit(first - 1); !ok {
			break
		}
		first--
	}
	i := slices.IndexFunc(t.checkpoints, func(c checkpoint) bool { return c.version >= first-1 && c.version < version })
	if first > 0 && i < 0 {
		return segment{}, stream.Usagef("{since} %d: the log of %s has no changes that lead to version %d any more; scan the whole table, without {-since}", since, t.name, version)
	}
	oldest := int64(0)
	if first > 0 {
		oldest = t.checkpoints[i].version
	}
	return segment{}, stream.Usagef("{since} %d: the log of %s does not have all changes since then any more, and version %d is the oldest that is possible; if there are no statistics of a version from that on, scan the whole table, without {-since}", since, t.name, oldest)
}

// suggestVersions describes the versions that can be read although the commit `missing` is absent: the versions before
// it, and the versions from the next checkpoint on.
func (t *table) suggestVersions(from, missing int64) string {
	var names []string
	if first := max(from-1, t.oldest); first < missing {
		names = append(names, fmt.Sprintf("one from %d to %d", first, missing-1))
	}
	for _, c := range t.checkpoints {
		if c.version >= missing {
			names = append(names, fmt.Sprintf("one from %d on", c.version))
			break
		}
	}
	if len(names) == 0 {
		return "another one"
	}
	return strings.Join(names, " or ")
}

// baseCheckpoint returns the newest checkpoint that is not newer than the version, or nil if there is none.
func (t *table) baseCheckpoint(version int64) *checkpoint {
	n, _ := slices.BinarySearchFunc(t.checkpoints, version+1, func(c checkpoint, v int64) int { return cmp.Compare(c.version, v) })
	if n == 0 {
		return nil
	}
	return &t.checkpoints[n-1]
}

func compareCommitVersion(candidate commit, version int64) int {
	return cmp.Compare(candidate.version, version)
}

func (t *table) findCommit(version int64) (commit, bool) {
	i, ok := slices.BinarySearchFunc(t.commits, version, compareCommitVersion)
	if !ok {
		return commit{}, false
	}
	return t.commits[i], true
}
