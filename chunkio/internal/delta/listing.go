package delta

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// logFolder is the folder of a table's log. sidecarFolder is the folder of sidecars, further files of V2 checkpoints.
const (
	logFolder     = "_delta_log/"
	sidecarFolder = logFolder + "_sidecars/"
)

// table represents the log of one table: its folder, and the commits and checkpoints that were listed in it.
type table struct {
	folder Folder
	name   string // for messages
	budget budget

	commits     []commit     // in order of their versions
	checkpoints []checkpoint // complete checkpoints, by version; of several for one version, the preferred one is last
	// oldest and newest are the first and the last version that can be built, if no commit between them is missing.
	oldest, newest int64
}

// commit is the log file of one version, with the changes from the previous version.
type commit struct {
	version, size int64
	modified      time.Time
}

func (c commit) logFile() logFile { return logFile{commitFileName(c.version), c.size} }

func commitFileName(version int64) string { return fmt.Sprintf("%s%020d.json", logFolder, version) }

type logFile struct {
	name string
	size int64
}

func (t *table) pathForMessages(name string) string { return t.name + "/" + name }

// Bytes of memory per listed file: for a commit in a slice that may be half empty, and for a file of a checkpoint with
// its name and its entries in two maps.
const (
	commitBytes         = 96
	checkpointFileBytes = 384
)

func (t *table) listLogFiles(ctx context.Context) error {
	found := make(map[partKey]*checkpointParts)
	for e, err := range t.folder.List(ctx, logFolder) {
		if err != nil {
			return format.PlaceError(t.pathForMessages(logFolder), -1, "", err)
		}
		name, inside := strings.CutPrefix(e.Name, logFolder)
		n := parseName(name)
		if !inside || n.kind == noLogFile {
			continue
		}
		bytes := int64(checkpointFileBytes)
		if n.kind == commitFile {
			bytes = commitBytes
		}
		if err := t.budget.reserveBytes(bytes, t.name); err != nil {
			return err
		}
		if n.kind == commitFile {
			t.commits = append(t.commits, commit{n.version, e.Size, e.Modified.Truncate(time.Millisecond)})
			continue
		}
		// Writers that were killed leave checkpoints of 0 bytes. The reference implementation skips these too.
		if e.Size > 0 {
			p := found[n.partKey]
			if p == nil {
				p = &checkpointParts{modified: e.Modified.Truncate(time.Millisecond), files: map[int]logFile{}}
				found[n.partKey] = p
			}
			p.files[n.part] = logFile{e.Name, e.Size}
		}
	}
	slices.SortFunc(t.commits, func(a, b commit) int { return cmp.Compare(a.version, b.version) })
	for key, p := range found {
		if len(p.files) == key.parts {
			c := checkpoint{version: key.version, kind: key.kind, modified: p.modified}
			for _, part := range slices.Sorted(maps.Keys(p.files)) {
				c.parts = append(c.parts, p.files[part])
			}
			t.checkpoints = append(t.checkpoints, c)
		}
	}
	slices.SortFunc(t.checkpoints, compareCheckpoints)
	return t.findVersionRange()
}

func (t *table) findVersionRange() error {
	log := t.pathForMessages(logFolder)
	if len(t.commits) == 0 && len(t.checkpoints) == 0 {
		e := stream.Dataf(log, "has neither a commit nor a complete checkpoint")
		e.Remedy = stream.Textf("name the folder that the table was written to, or copy its log again")
		return e
	}
	if len(t.commits) > 0 {
		t.newest = t.commits[len(t.commits)-1].version
	}
	if n := len(t.checkpoints); n > 0 {
		t.oldest, t.newest = t.checkpoints[0].version, max(t.newest, t.checkpoints[n-1].version)
	}
	if len(t.commits) > 0 && t.commits[0].version == 0 {
		t.oldest = 0
	} else if len(t.checkpoints) == 0 {
		e := stream.Dataf(t.pathForMessages(commitFileName(0)), "is missing, and no complete checkpoint stands in for it: the log begins with version %d", t.commits[0].version)
		e.Remedy = stream.Textf("restore the log from a copy")
		return e
	}
	return nil
}

// Kinds of files in a log. For checkpoints of the same version, later kinds are preferred.
const (
	noLogFile = iota
	commitFile
	uuidJSON
	uuidParquet
	multiPart
	classic
)

// partKey identifies a checkpoint. All files of one checkpoint have the same partKey.
type partKey struct {
	version int64
	kind    int    // one of the kinds of files
	parts   int    // number of parts
	uuid    string // for V2 checkpoints that have a UUID in their name
}

// checkpointParts collects the files of one checkpoint by their part numbers.
type checkpointParts struct {
	modified time.Time
	files    map[int]logFile
}

// parsedName is the information in the name of a log file.
type parsedName struct {
	partKey
	part int // part number, starting at 1
}

// parseName parses the name of a log file. Other files (checksums, compactions, staged commits and anything else) have
// the kind noLogFile.
func parseName(name string) parsedName {
	words := strings.Split(name, ".")
	version, ok := parseDigits(words[0], 20)
	if !ok {
		return parsedName{}
	}
	n := parsedName{partKey{version: version, parts: 1}, 1}
	ending := words[len(words)-1]
	switch {
	case len(words) == 2 && ending == "json":
		n.kind = commitFile
	case len(words) < 3 || words[1] != "checkpoint":
	case len(words) == 3 && ending == "parquet":
		n.kind = classic
	case len(words) == 4 && len(words[2]) == 36:
		n.uuid = words[2]
		n.kind = map[string]int{"json": uuidJSON, "parquet": uuidParquet}[ending]
	case len(words) == 5 && ending == "parquet":
		part, ok := parseDigits(words[2], 10)
		parts, okParts := parseDigits(words[3], 10)
		if ok && okParts && 1 <= part && part <= parts {
			n.kind, n.part, n.parts = multiPart, int(part), int(parts)
		}
	}
	return n
}

func parseDigits(s string, digits int) (int64, bool) {
	if len(s) != digits || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	v, err := strconv.ParseInt(s, 10, 64)
	return v, err == nil && v < 1<<60 // the limit prevents overflow in sums of versions
}
