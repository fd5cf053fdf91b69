package delta

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// history is a table that the tests make, and its obviously right twin: a map of the live
// files of every version.
type history struct {
	rng      *rand.Rand
	commits  [][]act
	versions []twin
}

// twin is the state of a version as a simple map.
type twin struct {
	live       map[string]File // by path
	partitions []string
	parts      map[string]map[string]*string // of the live files, as the log has them
	protocol   protocol
	gone       []string // tombstones
}

// act is one action, of which exactly one field is set.
type act struct {
	add      *File
	parts    map[string]*string // of add
	remove   string
	meta     []string // partition columns; not nil
	protocol *protocol
	other    string // a line that is none of our concern
}

// newHistory makes versions 0 to n-1.
func newHistory(seed uint64, n int) *history {
	h := &history{rng: rand.New(rand.NewPCG(seed, 13))}
	for range n {
		h.step()
	}
	return h
}

// partitionings are the sets of partition columns that a history changes between.
var partitionings = [][]string{{}, {"day"}, {"day", "Größe x"}, {"Größe x", "day"}}

func (h *history) step() {
	v := len(h.commits)
	now := twin{live: map[string]File{}, parts: map[string]map[string]*string{}}
	var acts []act
	if v == 0 {
		now.protocol = protocol{MinReaderVersion: 1}
		now.partitions = partitionings[h.rng.IntN(len(partitionings))]
		acts = append(acts, act{protocol: &now.protocol}, act{meta: now.partitions})
	} else {
		old := h.versions[v-1]
		now.partitions, now.protocol, now.gone = old.partitions, old.protocol, slices.Clone(old.gone)
		maps.Copy(now.live, old.live)
		maps.Copy(now.parts, old.parts)
	}
	touched := map[string]bool{} // a version has one action a file
	drop := func(path string) {
		touched[path] = true
		delete(now.live, path)
		now.gone = append(now.gone, path)
		acts = append(acts, act{remove: path})
	}
	everything := v > 0 && h.rng.IntN(12) == 0
	for _, path := range slices.Sorted(maps.Keys(now.live)) {
		switch {
		case everything || h.rng.IntN(6) == 0:
			drop(path)
		case h.rng.IntN(6) == 0: // the same file with newer facts
			touched[path] = true
			h.add(&now, &acts, path)
		}
	}
	if everything {
		now.partitions = partitionings[h.rng.IntN(len(partitionings))]
		acts = append(acts, act{meta: now.partitions})
	}
	for range h.rng.IntN(8) {
		path := fmt.Sprintf("day=%d/part %%2F+ü#-%d.parquet", h.rng.IntN(3), h.rng.IntN(40)) // some were there before
		if _, there := now.live[path]; !there && !touched[path] {
			touched[path] = true
			h.add(&now, &acts, path)
		}
	}
	if h.rng.IntN(3) == 0 {
		acts = append(acts, act{remove: fmt.Sprintf("never-there-%d", v)})
	}
	acts = append(acts, act{other: `{"commitInfo":{"timestamp":1,"anything":[1,{"add":"no"}]}}`}, act{other: `{"txn":{"appId":"a","version":1}}`},
		act{other: `{"cdc":{"path":"_change_data/x","size":1}}`}, act{other: `{"domainMetadata":{"domain":"d","removed":false}}`}, act{other: `{"newAction":{"path":"y"}}`})
	h.commits = append(h.commits, acts)
	h.versions = append(h.versions, now)
}

// add adds a file with random facts, or gives it new ones.
func (h *history) add(now *twin, acts *[]act, path string) {
	f := File{Path: path, Size: h.rng.Int64N(1 << 40), Rows: h.rng.Int64N(1<<33) - 1}
	parts := map[string]*string{}
	for _, name := range now.partitions {
		texts := []string{"", "a", "2020-01-01", "ü \"quoted\" \\", "b"}
		var value *string
		if k := h.rng.IntN(len(texts) + 1); k > 0 {
			value = &texts[k-1]
		}
		parts[name] = value
		if value != nil && *value == "" {
			value = nil // that is what an empty string means
		}
		f.Values = append(f.Values, value)
	}
	now.live[path], now.parts[path] = f, parts
	*acts = append(*acts, act{add: &f, parts: parts})
}

// escape is a path as the log spells it.
func escape(path string) string {
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	return strings.Join(segments, "/")
}

func stats(rows int64) any {
	if rows < 0 {
		return nil
	}
	return fmt.Sprintf(`{"numRecords":%d,"minValues":{"x":1}}`, rows)
}

// line is the action as a commit has it.
func (a act) line() string {
	var v any
	switch {
	case a.add != nil:
		add := row{"path": escape(a.add.Path), "partitionValues": a.parts, "size": a.add.Size, "modificationTime": 1, "dataChange": true}
		if s := stats(a.add.Rows); s != nil {
			add["stats"] = s
		}
		v = row{"add": add}
	case a.remove != "":
		v = row{"remove": row{"path": escape(a.remove), "deletionTimestamp": 1, "dataChange": true}}
	case a.meta != nil:
		v = row{"metaData": row{"id": "id", "format": row{"provider": "parquet", "options": row{}}, "schemaString": "{}", "partitionColumns": a.meta, "configuration": row{}}}
	case a.protocol != nil:
		v = row{"protocol": row{"minReaderVersion": a.protocol.MinReaderVersion, "minWriterVersion": 7}}
		if f := a.protocol.ReaderFeatures; f != nil {
			v.(row)["protocol"].(row)["readerFeatures"] = f
		}
	default:
		return a.other
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// write puts the commits from version `from` on into a folder, their actions in any order.
func (h *history) write(m *memoryFolder, from int, rng *rand.Rand) {
	for v := from; v < len(h.commits); v++ {
		var lines []string
		for _, i := range rng.Perm(len(h.commits[v])) {
			lines = append(lines, h.commits[v][i].line())
		}
		m.commit(int64(v), lines...)
	}
}

// want is the snapshot of a version.
func (h *history) want(version int) *Snapshot {
	w := h.versions[version]
	s := &Snapshot{ID: "id", Version: int64(version), Partitions: w.partitions}
	for _, path := range slices.Sorted(maps.Keys(w.live)) {
		s.Files = append(s.Files, w.live[path])
	}
	return s
}

// fileRows and otherRows are the rows of a checkpoint of a version: of its files with
// their tombstones, and of everything else.
func (h *history) fileRows(version int, parsed bool) (rows []row) {
	w := h.versions[version]
	for path, f := range w.live {
		add := row{"path": escape(path), "size": int(f.Size), "partitionValues": mapValue(w.parts[path]), "stats": stats(f.Rows)}
		if parsed && f.Rows >= 0 {
			add["stats_parsed"] = row{"numRecords": int(f.Rows), "minValues": row{"x": 1}}
		}
		rows = append(rows, row{"add": add})
	}
	for _, path := range w.gone {
		if _, back := w.live[path]; !back {
			rows = append(rows, row{"remove": row{"path": escape(path), "deletionTimestamp": 1}})
		}
	}
	h.rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

func (h *history) otherRows(version int) []row {
	w := h.versions[version]
	p := row{"minReaderVersion": int(w.protocol.MinReaderVersion)}
	if f := w.protocol.ReaderFeatures; f != nil {
		p["readerFeatures"] = listValue(f)
	}
	return []row{
		{"txn": row{"appId": "a", "version": 1}},
		{"protocol": p},
		{"metaData": row{"id": "id", "schemaString": "{}", "format": row{"provider": "parquet"}, "partitionColumns": listValue(w.partitions), "configuration": mapValue(nil)}},
	}
}

// The shapes of checkpoints.
const (
	shapeClassic = iota
	shapeParts
	shapeUUID
	shapeUUIDSidecars
	shapeJSON
	shapeJSONSidecars
	shapeClassicSidecars
	shapes
)

// checkpoint writes a checkpoint of a version.
func (h *history) checkpoint(t testing.TB, m *memoryFolder, version, shape int) {
	const uuid = "80a083e8-7026-4e79-81be-64bd76c43a11"
	parsed := h.rng.IntN(2) == 0
	height := 1 + h.rng.IntN(20)
	file := func(rows []row) []byte { return writeRows(t, checkpointFields(parsed), rows, height) }
	files, others := h.fileRows(version, parsed), h.otherRows(version)
	v := fmt.Sprintf("%s%020d.checkpoint", logFolder, version)
	switch shape {
	case shapeClassic:
		m.files[v+".parquet"] = file(append(others, files...))
		return
	case shapeParts:
		for p := range 3 {
			part := files[p*len(files)/3 : (p+1)*len(files)/3]
			if p == 1 {
				part = append(others, part...)
			}
			m.files[fmt.Sprintf("%s.%010d.%010d.parquet", v, p+1, 3)] = file(part)
		}
		return
	}
	rows := slices.Concat(others, []row{{"checkpointMetadata": row{"version": version}}})
	if shape == shapeUUID {
		m.files[v+"."+uuid+".parquet"] = file(append(rows, files...))
		return
	}
	w := h.versions[version]
	lines := []string{fmt.Sprintf(`{"checkpointMetadata":{"version":%d}}`, version), act{protocol: &w.protocol}.line(), act{meta: w.partitions}.line()}
	if shape == shapeJSON {
		for path, f := range w.live {
			lines = append(lines, act{add: &f, parts: w.parts[path]}.line())
		}
		for _, path := range w.gone { // with tombstones of files that came back
			lines = append(lines, act{remove: path}.line())
		}
		m.files[v+"."+uuid+".json"] = []byte(strings.Join(lines, "\n"))
		return
	}
	for p := range 2 {
		name := fmt.Sprintf("side %d-%d.parquet", version, p)
		b := writeRows(t, checkpointFields(parsed)[1:3], files[p*len(files)/2:(p+1)*len(files)/2], height)
		m.files[sidecarFolder+name] = b
		rows = append(rows, row{"sidecar": row{"path": escape(name), "sizeInBytes": len(b)}})
		lines = append(lines, fmt.Sprintf(`{"sidecar":{"path":%q,"sizeInBytes":%d,"modificationTime":1}}`, escape(name), len(b)))
	}
	switch shape {
	case shapeUUIDSidecars:
		m.files[v+"."+uuid+".parquet"] = file(rows)
	case shapeClassicSidecars:
		m.files[v+".parquet"] = file(rows)
	case shapeJSONSidecars:
		m.files[v+"."+uuid+".json"] = []byte(strings.Join(lines, "\n"))
	}
}
